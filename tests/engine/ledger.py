"""Looking into the ledger of a running Hart."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from sqlmodel import SQLModel, select

from bot.app import Hart
from tests.engine.people import PATIENCE

Row = TypeVar("Row", bound=SQLModel)
Found = TypeVar("Found")


async def rows(hart: Hart, table: type[Row]) -> Sequence[Row]:
    """All rows of a table, oldest first."""
    found = await hart.database.run(lambda session: list(session.exec(select(table))))
    return sorted(found, key=lambda row: str(getattr(row, "id", "")).zfill(20))


async def eventually(look: Callable[[], Awaitable[Found]], timeout: float = PATIENCE) -> Found:
    """Look again and again until there is something, and give it. For what nobody announces."""
    async with asyncio.timeout(timeout):
        while True:
            if found := await look():
                return found
            await asyncio.sleep(0.02)
