"""State of threads in Postgres, for any number of nodes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncConnection
from psycopg.errors import DeadlockDetected, SerializationFailure
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from agent_core.checkpoints import NEWEST_THREADS
from agent_core.fenced_saver import FencedSaver

_POOL_SIZE = 8
_SETUP_LOCK = 0x48617274_00000001
_SETUP_POLL_SECONDS = 0.1
_PRUNE_TRIES = 3


class FencedPostgresSaver(FencedSaver, AsyncPostgresSaver):
    """LangGraph's Postgres saver behind the fence."""


class PostgresCheckpoints:
    """State in Postgres."""

    def __init__(self, pool: AsyncConnectionPool[AsyncConnection[DictRow]]) -> None:
        self._pool = pool
        self._saver = FencedPostgresSaver(pool)

    @property
    def saver(self) -> BaseCheckpointSaver[Any]:
        """See :class:`~agent_core.checkpoints.Checkpoints`."""
        return self._saver

    async def setup(self) -> None:
        """See :class:`~agent_core.checkpoints.Checkpoints`.

        The saver makes its indexes with CREATE INDEX CONCURRENTLY, which waits for every other
        transaction. One that waits for our lock would be such a transaction, and both would stand
        still; so the lock is tried, not waited for.
        """
        async with self._pool.connection() as connection:
            await _take_setup_lock(connection)
            try:
                await self._saver.setup()
            finally:
                await _flag(connection, "SELECT pg_advisory_unlock(%s) AS ok")

    async def threads(self) -> list[str]:
        """See :class:`~agent_core.checkpoints.Checkpoints`."""
        async with self._pool.connection() as connection:
            rows = await (await connection.execute(NEWEST_THREADS.encode())).fetchall()
        return [str(row["thread_id"]) for row in rows]

    async def prune(self, thread_id: str) -> None:
        """See :class:`~agent_core.checkpoints.Checkpoints`."""
        for attempt in range(1, _PRUNE_TRIES + 1):
            try:
                await self._saver.aprune([thread_id], strategy="keep_latest")
            except (SerializationFailure, DeadlockDetected):
                # Somebody else prunes the same thread; what is left now goes the next time.
                if attempt == _PRUNE_TRIES:
                    return
            else:
                return

    async def settle(self, thread_id: str) -> None:
        """See :class:`~agent_core.checkpoints.Checkpoints`."""
        await self._saver.pending.settle(thread_id)

    async def delete(self, thread_id: str) -> None:
        """See :class:`~agent_core.checkpoints.Checkpoints`."""
        await self._saver.adelete_thread(thread_id)


async def _take_setup_lock(connection: AsyncConnection[DictRow]) -> None:
    while True:
        if await _flag(connection, "SELECT pg_try_advisory_lock(%s) AS ok"):
            return
        await asyncio.sleep(_SETUP_POLL_SECONDS)


async def _flag(connection: AsyncConnection[DictRow], query: str) -> bool:
    cursor = await connection.execute(query.encode(), (_SETUP_LOCK,))
    row = await cursor.fetchone()
    return row is not None and bool(row["ok"])


@asynccontextmanager
async def open_postgres(url: str) -> AsyncIterator[PostgresCheckpoints]:
    """Connect and set up; closed on leaving."""
    async with AsyncConnectionPool(
        url,
        # A connection that a restart of the server has ended is replaced, not handed out.
        check=AsyncConnectionPool.check_connection,
        connection_class=AsyncConnection[DictRow],
        kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
        min_size=1,
        max_size=_POOL_SIZE,
        open=False,
    ) as pool:
        checkpoints = PostgresCheckpoints(pool)
        await checkpoints.setup()
        yield checkpoints
