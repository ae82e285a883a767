"""Short-lived words between nodes: stop this run, look at that chat again.

A signal may be lost. Whatever must not be lost is in the ledger too and is found by a slower way.
"""

import asyncio
import contextlib
import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Protocol

import psycopg
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import text
from sqlmodel import Session

from bot.engine.listening import ListeningConnection
from bot.store.database import Database, StoreUnavailableError

log = logging.getLogger(__name__)

Listener = Callable[[str], None]
"""Called on the event loop with a signal's payload; must return at once."""

POSTGRES_CHANNEL = "hart_signals"
_BODY = TypeAdapter(tuple[str, str, str])
MAX_BYTES = 7_000  # Postgres takes 8,000 per notification
RECONNECT_SECONDS = 1.0


class Signals(Protocol):
    """Publish and subscribe by topic, over all nodes, this one included."""

    async def start(self) -> None:
        """Begin to hear other nodes."""

    async def publish(self, topic: str, payload: str) -> None:
        """Tell every listener of a topic, once each, in this process at once."""

    def listening(self, topic: str, listener: Listener) -> contextlib.AbstractContextManager[None]:
        """Have the listener called while the block runs."""

    async def close(self) -> None:
        """Stop hearing."""


class LocalSignals:
    """Signals inside one process."""

    def __init__(self) -> None:
        self._listeners: defaultdict[str, list[Listener]] = defaultdict(list)

    async def start(self) -> None:
        """Nothing to begin."""

    async def publish(self, topic: str, payload: str) -> None:
        """See :class:`Signals`."""
        self.hear(topic, payload)

    def hear(self, topic: str, payload: str) -> None:
        """Call the listeners of a topic."""
        for listener in tuple(self._listeners.get(topic, ())):
            listener(payload)

    @contextmanager
    def listening(self, topic: str, listener: Listener) -> Iterator[None]:
        """See :class:`Signals`."""
        self._listeners[topic].append(listener)
        try:
            yield
        finally:
            self._listeners[topic].remove(listener)
            if not self._listeners[topic]:
                del self._listeners[topic]

    async def close(self) -> None:
        """Nothing to stop."""


class PostgresSignals(LocalSignals):
    """Signals between nodes through LISTEN and NOTIFY.

    Args:
        database: Through which to notify.
        conninfo: libpq connection string for a direct connection to listen on.
        node: This node's id: it does not hear itself twice.
    """

    def __init__(self, database: Database, conninfo: str, node: str) -> None:
        super().__init__()
        self._database = database
        self._conninfo = conninfo
        self._node = node
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """See :class:`Signals`."""
        self._task = asyncio.create_task(self._listen(), name="signals")

    async def publish(self, topic: str, payload: str) -> None:
        """See :class:`Signals`. Other nodes do not get a payload that is too large for Postgres."""
        self.hear(topic, payload)
        body = json.dumps([self._node, topic, payload])
        if len(body.encode()) > MAX_BYTES:
            return
        try:
            await self._database.run(partial(_notify, body=body))
        except StoreUnavailableError as error:
            log.warning("signal %s reached this node only: %s", topic, error)

    async def _listen(self) -> None:
        while True:
            try:
                connection = await ListeningConnection.connect(self._conninfo, autocommit=True)
                async with connection:
                    await connection.execute(f"LISTEN {POSTGRES_CHANNEL}")
                    async for notification in connection.notifies():
                        self._hear_from_others(notification.payload)
            except psycopg.Error as error:
                log.warning("cannot hear other nodes, trying again: %s", error)
            await asyncio.sleep(RECONNECT_SECONDS)

    def _hear_from_others(self, body: str) -> None:
        try:
            node, topic, payload = _BODY.validate_json(body)
        except ValidationError:
            log.warning("heard something on %s that no Hart of this version says", POSTGRES_CHANNEL)
            return
        if node != self._node:
            self.hear(topic, payload)

    async def close(self) -> None:
        """See :class:`Signals`."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task


def _notify(session: Session, body: str) -> None:
    session.execute(text("SELECT pg_notify(:channel, :body)"), {"channel": POSTGRES_CHANNEL, "body": body})
