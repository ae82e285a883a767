"""How many bytes a turn leaves behind."""

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
        return sum(file.stat().st_size for file in here.site.home.glob("*.db*"))
    with psycopg.connect(here.site.database_url, autocommit=True) as connection:
        connection.execute("VACUUM")  # what pruning freed counts as free, as it does after a while by itself
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    assert row is not None
    return int(row[0])
