"""Bringing a database's schema to the one this code needs."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from bot.errors import OperatorError
from bot.store.database import Database

MIGRATION_LOCK = 0x48415254  # any number that nobody else uses: "HART" in ASCII


class NewerSchemaError(OperatorError):
    """The database was written by a newer Hart."""


class DatabaseUnusableError(OperatorError):
    """The database cannot be opened or written."""


def migrate(database: Database, revision: str = "head") -> None:
    """Create or upgrade the schema; blocking, safe when several nodes start at once.

    Args:
        database: Whose schema.
        revision: Up to which; the latest unless given.

    Raises:
        NewerSchemaError: The schema is one this code does not know.
        DatabaseUnusableError: It cannot be opened or written.
    """
    try:
        with _alone(database), database.engine.connect() as connection:
            _upgrade(connection, revision)
            connection.commit()
    except DBAPIError as error:
        where = database.url.database if not database.is_postgres else database.url.render_as_string()
        raise DatabaseUnusableError(f"The database {where} cannot be used: {_first_line(error)}") from error


def _upgrade(connection: Connection, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    current = MigrationContext.configure(connection).get_current_revision()
    if current is not None and current not in known:
        raise NewerSchemaError(
            f"The database's schema ({current}) is newer than this version of Hart. "
            "Run the newer version, or restore a backup made before the upgrade."
        )
    command.upgrade(config, revision)


@contextmanager
def _alone(database: Database) -> Iterator[None]:
    """Let one node migrate at a time.

    Tried again and again instead of waited for: a session that waits inside ``pg_advisory_lock`` holds a
    snapshot, and ``CREATE INDEX CONCURRENTLY`` in another node's migration would wait for that for ever.
    """
    if not database.is_postgres:
        yield
        return
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while not connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": MIGRATION_LOCK}):
            time.sleep(0.1)
        try:
            yield
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": MIGRATION_LOCK})


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0]
