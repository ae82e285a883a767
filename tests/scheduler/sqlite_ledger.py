"""A task ledger over a SQLite file: several may share one, as nodes share a store."""

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from scheduler.models import Standing, Task
from scheduler.plan import Fire

_SCHEMA = """
CREATE TABLE IF NOT EXISTS start (task TEXT PRIMARY KEY, at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS fire (
    task TEXT NOT NULL, at TEXT NOT NULL, left_out INTEGER NOT NULL, node TEXT NOT NULL,
    by_hand INTEGER NOT NULL, skipped TEXT,
    PRIMARY KEY (task, at)
);
"""


class SqliteLedger:
    """Tasks are given; start points and fires lie in the file.

    ``busy`` holds the names of tasks with a run going on.

    Args:
        path: The file.
        tasks: What :meth:`standings` tells; may be changed meanwhile.
        node: Recorded with each fire.
    """

    def __init__(self, path: Path, tasks: Sequence[Task], node: str = "node") -> None:
        self.path = path
        self.known = list(tasks)
        self.node = node
        self.busy: set[str] = set()
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

    def skips(self, name: str) -> list[str | None]:
        with self._connect() as connection:
            rows = connection.execute(
                "SELECT skipped FROM fire WHERE task = ? ORDER BY at", (name,)
            ).fetchall()
        return [reason for (reason,) in rows]

    async def standings(self) -> Sequence[Standing]:
        return await asyncio.to_thread(self._standings)

    async def standing(self, name: str) -> Standing | None:
        return next((one for one in await self.standings() if one.task.name == name), None)

    async def fire(self, task: Task, fire: Fire) -> bool:
        return await asyncio.to_thread(self._fire, task.name, fire)

    async def retry(self) -> int:
        return 0

    def _standings(self) -> list[Standing]:
        found = []
        for task in self.known:
            with self._connect() as connection:
                (at,) = connection.execute(
                    "SELECT max(at) FROM (SELECT * FROM start UNION "
                    "SELECT task, at FROM fire WHERE NOT by_hand) WHERE task = ?",
                    (task.name,),
                ).fetchone()
            if at is not None:
                found.append(Standing(task, datetime.fromisoformat(at), task.name in self.busy))
        return found

    def _fire(self, name: str, fire: Fire) -> bool:
        with self._connect() as connection:
            done = connection.execute(
                "INSERT INTO fire VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (
                    *(name, _text(fire.scheduled_for), fire.left_out, self.node),
                    *(fire.by_hand, fire.skipped),
                ),
            )
            return done.rowcount == 1

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=30)) as connection, connection:
            yield connection


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
