"""Postgres connections that wait for notifications without waking up in between."""

from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen

_IDLE_SECONDS = 60.0

_Result = TypeVar("_Result")


class ListeningConnection(psycopg.AsyncConnection[Any]):
    """Psycopg's asynchronous connection, which looks ten times a second whether it was interrupted.

    An event loop needs no such look: a cancelled task is told at once, and so is the end of the socket.
    """

    async def wait(
        self, gen: PQGen[_Result], interval: float = _IDLE_SECONDS, timeout: float | None = None
    ) -> _Result:
        """See :meth:`psycopg.AsyncConnection.wait`."""
        return await super().wait(gen, interval=interval, timeout=timeout)
