"""What a long conversation costs: bytes left behind, and work for a turn."""

import sqlite3
import statistics
import time
from contextlib import closing
from pathlib import Path

import psycopg

from bench.figures import Figure
from bench.stage import QUESTION, Stage, message, stage

LONG_QUESTION = (QUESTION * 7)[:1024]
EARLY = slice(5, 15)
"""The turns around the tenth."""


async def bytes_per_turn(root: Path, storage: str, database_url: str | None, turns: int) -> list[Figure]:
    """One conversation; what is stored for it, checkpoints and ledger together, and what turns cost."""
    sizes = []
    cost = []
    async with stage(root, database_url, long_answers=True) as here:
        await here.hart.inbox.accept(message("warm", 0))
        await here.idle()
        sizes.append(_size(here))
        for number in range(turns):
            begun = time.process_time()
            await here.hart.inbox.accept(message("long", number, LONG_QUESTION))
            await here.idle()
            cost.append(time.process_time() - begun)
            if number + 1 in (turns // 2, turns):
                sizes.append(_size(here))
    half = turns // 2
    note = f"{turns} turns of 1 KiB asked and 1 KiB answered"
    # As many of the last turns as lie between two summaries, so that the dearest and the cheapest count.
    late = cost[-60:]
    return [
        Figure(storage, "stored per turn, first half", (sizes[1] - sizes[0]) / half / 1024, "KiB", note),
        Figure(storage, "stored per turn, second half", (sizes[2] - sizes[1]) / half / 1024, "KiB", note),
        Figure(storage, "stored in all", (sizes[2] - sizes[0]) / 1024 / 1024, "MiB", note),
        Figure(storage, "CPU for the 10th turn", statistics.mean(cost[EARLY]) * 1000, "ms", note),
        Figure(storage, "CPU for the last turns, mean", statistics.mean(late) * 1000, "ms", note),
        Figure(storage, "CPU for the last turns, dearest", max(late) * 1000, "ms", note),
    ]


def _size(here: Stage) -> int:
    if here.site.database_url is None:
        return sum(_used(file) for file in here.site.home.glob("*.db"))
    with psycopg.connect(here.site.database_url, autocommit=True) as connection:
        connection.execute("VACUUM FULL")  # as on SQLite: pages that pruning has freed do not count
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    assert row is not None
    return int(row[0])


def _used(file: Path) -> int:
    """Bytes in pages that hold something; free ones are used again before the file grows."""
    with closing(sqlite3.connect(file)) as connection:
        pages, free, size = (
            int(connection.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
    return (pages - free) * size
