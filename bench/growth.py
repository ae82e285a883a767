"""How many bytes a turn leaves behind."""

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg

from bench.figures import Figure
from bench.stage import PAYLOAD_BYTES, Stage, message, stage


async def bytes_per_turn(root: Path, storage: str, database_url: str | None, turns: int) -> list[Figure]:
    """One conversation; what its first and its second half have added, checkpoints and ledger together."""
    sizes = []
    async with stage(root, database_url) as here:
        await here.hart.inbox.accept(message("warm", 0))
        await here.idle()
        sizes.append(_size(here))
        for number in range(turns):
            await here.hart.inbox.accept(message("long", number))
            await here.idle()
            if number + 1 in (turns // 2, turns):
                sizes.append(_size(here))
    half = turns // 2
    note = f"{turns} turns of {PAYLOAD_BYTES} bytes"
    return [
        Figure(storage, "stored per turn, first half", (sizes[1] - sizes[0]) / half / 1024, "KiB", note),
        Figure(storage, "stored per turn, second half", (sizes[2] - sizes[1]) / half / 1024, "KiB", note),
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
