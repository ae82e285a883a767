"""One database, SQLite or Postgres, behind a small executor."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlmodel import Session

T = TypeVar("T")

POSTGRES_THREADS = 6

READ_ONLY_STATE = "25006"
"""What a Postgres server says that takes no writes, such as a standby after a failover."""


class StoreUnavailableError(Exception):
    """The database could not be reached or could not write: disk full, read-only, server gone."""


class Database:
    """Runs units of work, each in a transaction of its own.

    A synchronous engine on its own threads is three times faster on SQLite than the async driver, and a
    writer there must be alone anyway: one thread on SQLite, several on Postgres.

    Args:
        url: SQLAlchemy URL, ``sqlite`` or ``postgresql+psycopg``.
    """

    def __init__(self, url: URL) -> None:
        self.url = url
        self.is_postgres = url.get_backend_name() == "postgresql"
        self.engine = _postgres_engine(url) if self.is_postgres else _sqlite_engine(url)
        self._executor = ThreadPoolExecutor(POSTGRES_THREADS if self.is_postgres else 1, "store")

    async def run(self, work: Callable[[Session], T]) -> T:
        """Run ``work`` in one transaction and return its result once that is committed.

        Raises:
            StoreUnavailableError: Nothing was written.
        """
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._transact, work)

    def _transact(self, work: Callable[[Session], T]) -> T:
        try:
            with Session(self.engine, expire_on_commit=False) as session, session.begin():
                return work(session)
        except (OperationalError, InterfaceError) as error:
            raise StoreUnavailableError(str(error.orig)) from error
        except DBAPIError as error:
            if error.connection_invalidated or getattr(error.orig, "sqlstate", None) == READ_ONLY_STATE:
                raise StoreUnavailableError(str(error.orig)) from error
            raise

    async def close(self) -> None:
        """Wait for running units of work and close all connections."""
        await asyncio.to_thread(self._executor.shutdown)
        self.engine.dispose()


def sqlite_url(path: Path) -> URL:
    """The URL of a SQLite file."""
    return URL.create("sqlite", database=str(path))


def postgres_url(url: str) -> URL:
    """The SQLAlchemy URL for ``postgresql://…``, with the driver we use."""
    return make_url(url).set(drivername="postgresql+psycopg")


def libpq_url(url: URL) -> str:
    """The same URL as libpq reads it, for other drivers. Holds the password: never log it."""
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


def _sqlite_engine(url: URL) -> Engine:
    engine = create_engine(url, connect_args={"timeout": 10}, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        # The driver must not begin transactions by itself: _begin does, and takes the write lock at once, so
        # that two writers wait for each other instead of failing half-way.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _postgres_engine(url: URL) -> Engine:
    return create_engine(
        url,
        pool_size=POSTGRES_THREADS,
        max_overflow=0,
        pool_pre_ping=True,
        hide_parameters=True,  # people's messages must not get into logs
        connect_args={"connect_timeout": 10},
    )
