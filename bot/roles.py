"""Work that only one node may do at a time, such as polling Telegram."""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

import psycopg

log = logging.getLogger(__name__)

TRY_SECONDS = 2.0
"""How often a node asks whether a role has become free."""

PING_SECONDS = 3.0
"""How often a holder makes sure that its connection, and with it the role, is still there."""

SILENT_SECONDS = 10
"""How long a holder may be silent before Postgres gives the role to another."""

Work = Callable[[], Awaitable[None]]


class Roles(Protocol):
    """Lets one node at a time do something."""

    async def run_as(self, role: str, work: Work) -> None:
        """Do the work while holding the role, waiting for it first; returns or raises as the work does."""


class LocalRoles:
    """For a single process: every role is free."""

    async def run_as(self, role: str, work: Work) -> None:
        """See :class:`Roles`."""
        await work()


class PostgresRoles:
    """A role is an advisory lock on a connection of its own: it is free again when the holder dies.

    Args:
        conninfo: libpq connection string for direct connections.
    """

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo

    async def run_as(self, role: str, work: Work) -> None:
        """See :class:`Roles`."""
        while True:
            try:
                connection = await psycopg.AsyncConnection.connect(self._conninfo, autocommit=True)
            except psycopg.OperationalError as error:
                log.warning("cannot ask for the role %s, trying again: %s", role, error)
                await asyncio.sleep(TRY_SECONDS)
                continue
            async with connection:
                if await self._lead(connection, role, work):
                    return

    async def _lead(self, connection: psycopg.AsyncConnection, role: str, work: Work) -> bool:
        """Hold the role on this connection; False when the connection was lost."""
        doing: asyncio.Future[None] | None = None
        try:
            # A node that froze keeps its connection open: let the server end it when no ping comes.
            await connection.execute(f"SET idle_session_timeout = '{SILENT_SECONDS}s'")
            await _acquire(connection, role)
            log.info("this node holds the role %s", role)
            doing = asyncio.ensure_future(work())
            while not (await asyncio.wait({doing}, timeout=PING_SECONDS))[0]:
                async with asyncio.timeout(PING_SECONDS):
                    await connection.execute("SELECT 1")
        except (psycopg.OperationalError, TimeoutError) as error:
            log.warning("lost the role %s: %s", role, error)
            return False
        finally:
            if doing is not None and not doing.done():
                doing.cancel()
                await asyncio.gather(doing, return_exceptions=True)
        doing.result()
        return True


async def _acquire(connection: psycopg.AsyncConnection, role: str) -> None:
    key = int.from_bytes(hashlib.sha256(f"hart role {role}".encode()).digest()[:8], "big", signed=True)
    while True:
        cursor = await connection.execute("SELECT pg_try_advisory_lock(%s)", [key])
        row = await cursor.fetchone()
        if row is not None and row[0]:
            return
        await asyncio.sleep(TRY_SECONDS)
