"""Where the state of threads is kept: LangGraph's own savers behind the fence, pruned.

LangGraph stores the whole conversation at every step and never forgets a step. A finished thread
needs only its last one; :meth:`Checkpoints.prune` deletes the rest, which keeps growth linear.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from agent_core.fenced_saver import FencedSaver

NEWEST_THREADS = """
    SELECT thread_id FROM checkpoints WHERE checkpoint_ns = ''
    GROUP BY thread_id ORDER BY MAX(checkpoint_id) DESC
"""
"""Ids of checkpoints rise with time. The tables of both stores have these columns."""


class Checkpoints(Protocol):
    """The state of all threads."""

    @property
    def saver(self) -> BaseCheckpointSaver[Any]:
        """What LangGraph writes to. Each write asks the fence first."""

    async def setup(self) -> None:
        """Make or upgrade the tables. May be called by several nodes at once."""

    async def threads(self) -> list[str]:
        """Give the ids of all threads that have state, in the order of their last step, newest first."""

    async def prune(self, thread_id: str) -> None:
        """Delete all of a thread but its latest checkpoint and what that needs to be resumed."""

    async def settle(self, thread_id: str) -> None:
        """Wait until nothing is being written for a thread."""

    async def delete(self, thread_id: str) -> None:
        """Delete all of a thread."""


class FencedSqliteSaver(FencedSaver, AsyncSqliteSaver):
    """LangGraph's SQLite saver behind the fence."""


class SqliteCheckpoints:
    """State in one SQLite file, which one process has open."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._saver = FencedSqliteSaver(connection)

    @property
    def saver(self) -> BaseCheckpointSaver[Any]:
        """See :class:`Checkpoints`."""
        return self._saver

    async def setup(self) -> None:
        """See :class:`Checkpoints`."""
        await self._saver.setup()

    async def threads(self) -> list[str]:
        """See :class:`Checkpoints`."""
        await self._saver.setup()
        async with self._saver.lock, self._saver.conn.cursor() as cursor:
            await cursor.execute(NEWEST_THREADS)
            return [row[0] for row in await cursor.fetchall()]

    async def prune(self, thread_id: str) -> None:
        """See :class:`Checkpoints`.

        Leans on the saver's tables, which it keeps private; the version is pinned and a test
        resumes a pruned run.
        """
        await self._saver.setup()
        async with self._saver.lock, self._saver.conn.cursor() as cursor:
            # A subagent's namespace holds a ":" and belongs to the root checkpoint it began from.
            await cursor.execute(
                """
                DELETE FROM checkpoints WHERE thread_id = :thread AND (
                    checkpoint_id < (
                        SELECT MAX(newer.checkpoint_id) FROM checkpoints AS newer
                        WHERE newer.thread_id = :thread AND newer.checkpoint_ns = checkpoints.checkpoint_ns
                    )
                    OR (checkpoint_ns LIKE '%:%'
                        AND json_extract(CAST(metadata AS TEXT), '$.parents.""') IS NOT (
                            SELECT MAX(root.checkpoint_id) FROM checkpoints AS root
                            WHERE root.thread_id = :thread AND root.checkpoint_ns = ''
                        ))
                )
                """,
                {"thread": thread_id},
            )
            await cursor.execute(
                """
                DELETE FROM writes WHERE thread_id = :thread AND NOT EXISTS (
                    SELECT 1 FROM checkpoints WHERE checkpoints.thread_id = :thread
                    AND checkpoints.checkpoint_ns = writes.checkpoint_ns
                    AND checkpoints.checkpoint_id = writes.checkpoint_id
                )
                """,
                {"thread": thread_id},
            )
            await self._saver.conn.commit()

    async def settle(self, thread_id: str) -> None:
        """See :class:`Checkpoints`."""
        await self._saver.pending.settle(thread_id)

    async def delete(self, thread_id: str) -> None:
        """See :class:`Checkpoints`."""
        await self._saver.setup()
        await self._saver.adelete_thread(thread_id)


@asynccontextmanager
async def open_checkpoints(url: str | None, sqlite_path: Path) -> AsyncIterator[Checkpoints]:
    """Open the store; closed on leaving.

    Args:
        url: ``postgresql://`` address, or None for SQLite.
        sqlite_path: The SQLite file, used when there is no ``url``; of its own, so that its writer
            does not wait for that of the ledger.
    """
    if url is not None:
        # Only here, so that nothing of Postgres is imported where it is not used.
        from agent_core.postgres_checkpoints import open_postgres

        async with open_postgres(url) as postgres:
            yield postgres
        return
    await asyncio.to_thread(sqlite_path.parent.mkdir, parents=True, exist_ok=True)
    async with aiosqlite.connect(sqlite_path) as connection:
        await connection.execute("PRAGMA journal_mode=WAL")
        await connection.execute("PRAGMA synchronous=FULL")
        await connection.execute("PRAGMA busy_timeout=10000")
        checkpoints = SqliteCheckpoints(connection)
        await checkpoints.setup()
        yield checkpoints
