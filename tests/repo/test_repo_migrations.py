"""The migrations make exactly the tables that the code works with."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, inspect, text
from sqlalchemy.schema import SchemaItem
from sqlmodel import Session, SQLModel

import bot.store.schema
import bot.store.tables
from bot.store import task_runs, tasks
from bot.store.database import Database, postgres_url, sqlite_url
from bot.store.schema import NewerSchemaError, migrate
from bot.task_spec import TaskSpec
from channels.messages import Address

MIGRATIONS = Path(bot.store.schema.__file__).parent / "migrations"


@pytest.fixture
def database(tmp_path: Path, database_url: str | None) -> Iterator[Database]:
    found = Database(postgres_url(database_url) if database_url else sqlite_url(tmp_path / "ledger.db"))
    yield found
    found.engine.dispose()


@contextmanager
def empty_twin(database: Database) -> Iterator[Engine]:
    """An engine on the same database without our connection settings, for a look from outside."""
    engine = create_engine(database.url)
    try:
        yield engine
    finally:
        engine.dispose()


def ours(
    item: SchemaItem, name: str | None, kind: str, reflected: bool, compare_to: SchemaItem | None
) -> bool:
    """Leave out the tables of Procrastinate and of Alembic, which are not in our metadata."""
    return kind != "table" or name in SQLModel.metadata.tables


def differences(database: Database) -> list[object]:
    options = {"compare_type": True, "compare_server_default": True, "include_object": ours}
    with empty_twin(database) as engine, engine.connect() as connection:
        context = MigrationContext.configure(connection, opts=options)
        return list(compare_metadata(context, SQLModel.metadata))


def test_migrations_make_the_tables_of_the_code(database: Database) -> None:
    migrate(database)
    assert differences(database) == []


def test_a_table_that_is_not_as_the_code_wants_it_would_be_noticed(database: Database) -> None:
    migrate(database)
    with database.engine.begin() as connection:
        connection.execute(text("DROP INDEX ix_runs_thread"))
        connection.execute(text("ALTER TABLE users ADD COLUMN nickname TEXT"))
    assert len(differences(database)) == 2


def test_migrating_again_changes_nothing(database: Database) -> None:
    migrate(database)
    with database.engine.begin() as connection:
        connection.execute(text("INSERT INTO lanes (name, epoch) VALUES ('thread:kept', 3)"))
    migrate(database)
    with database.engine.connect() as connection:
        assert connection.scalar(text("SELECT epoch FROM lanes")) == 3


def test_tasks_of_an_earlier_schema_keep_their_start_and_their_fires(database: Database) -> None:
    migrate(database, "0006")
    with database.engine.begin() as connection:
        for statement in (
            "INSERT INTO tasks VALUES ('digest', '0 8 * * * UTC on', '2026-11-01 00:00:00')",
            "INSERT INTO inbound (id, dedupe_key, kind, channel, account, chat_id, sender_id, message_id, "
            "text, body, received_at, done_at) VALUES (1, 'k', 'task', 'web', 'main', 'main', 's', 'k', '', "
            "'', '2026-11-01 08:00:00', '2026-11-01 08:01:00')",
            "INSERT INTO task_fires VALUES ('digest', '2026-11-01 08:00:00', '2026-11-01 08:00:00', 2, 1)",
        ):
            connection.execute(text(statement))
    migrate(database)
    now = datetime(2026, 11, 1, 12, tzinfo=UTC)
    spec = TaskSpec("digest", "go", "UTC", (Address("web", "main", "main"),), cron="0 8 * * *")
    with Session(database.engine) as session:
        tasks.reconcile(session, {"digest": tasks.Declared(spec, enabled=True)}, now)
        found = tasks.find(session, "digest")
        (run,) = task_runs.latest(session, "digest", 5)
    assert found is not None
    assert found.row.state == "active"
    assert found.row.first_seen_at == datetime(2026, 11, 1, tzinfo=UTC)
    assert found.served_until == datetime(2026, 11, 1, 8, tzinfo=UTC)
    assert (run.run.state, run.run.left_out) == ("done", 2)


def test_a_newer_schema_is_refused_and_left_alone(database: Database) -> None:
    migrate(database)
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(NewerSchemaError, match=r"schema \(9999\) is newer than this version of Hart"):
        migrate(database)
    with database.engine.connect() as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == "9999"
    assert "inbound" in inspect(database.engine).get_table_names()


def test_revisions_are_one_line_from_first_to_last() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    scripts = ScriptDirectory.from_config(config)
    assert len(scripts.get_heads()) == 1
    revisions = [script.revision for script in scripts.walk_revisions()][::-1]
    assert revisions == [f"{number:04d}" for number in range(1, len(revisions) + 1)]
