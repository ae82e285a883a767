"""A task ledger over a SQLite file: several may share one, as nodes share a store."""

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from scheduler.models import Task

_SCHEMA = """
CREATE TABLE IF NOT EXISTS start (task TEXT PRIMARY KEY, at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS fire (
    task TEXT NOT NULL, at TEXT NOT NULL, left_out INTEGER NOT NULL, node TEXT NOT NULL,
    PRIMARY KEY (task, at)
);
"""


class SqliteLedger:
    """Tasks are given; start points and fires lie in the file.

    Args:
        path: The file.
        tasks: What :meth:`tasks` tells; may be changed meanwhile.
        node: Recorded with each fire.
    """

    def __init__(self, path: Path, tasks: Sequence[Task], node: str = "node") -> None:
        self.path = path
        self.known = list(tasks)
        self.node = node
        with self._connect() as connection:
            connection.executescript(_SCHEMA)

    def first_seen(self, name: str, at: datetime) -> None:
        with self._connect() as connection:
            connection.execute("INSERT OR IGNORE INTO start VALUES (?, ?)", (name, _text(at)))

    def fires(self, name: str) -> list[tuple[datetime, int]]:
        with self._connect() as connection:
            rows = connection.execute(
                "SELECT at, left_out FROM fire WHERE task = ? ORDER BY at", (name,)
            ).fetchall()
        return [(datetime.fromisoformat(at), left_out) for at, left_out in rows]

    async def tasks(self) -> Sequence[Task]:
        return tuple(self.known)

    async def last_fire(self, name: str) -> datetime | None:
        return await asyncio.to_thread(self._last_fire, name)

    async def fire(self, task: Task, scheduled_for: datetime, left_out: int) -> bool:
        return await asyncio.to_thread(self._fire, task.name, scheduled_for, left_out)

    def _last_fire(self, name: str) -> datetime | None:
        with self._connect() as connection:
            (at,) = connection.execute(
                "SELECT max(at) FROM (SELECT * FROM start UNION SELECT task, at FROM fire) WHERE task = ?",
                (name,),
            ).fetchone()
        return None if at is None else datetime.fromisoformat(at)

    def _fire(self, name: str, scheduled_for: datetime, left_out: int) -> bool:
        with self._connect() as connection:
            done = connection.execute(
                "INSERT INTO fire VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (name, _text(scheduled_for), left_out, self.node),
            )
            return done.rowcount == 1

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=30)) as connection, connection:
            yield connection


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
