"""The one statement that the two databases spell differently."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Integer, literal_column
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session, SQLModel


def insert_once(session: Session, table: type[SQLModel], values: Mapping[str, Any]) -> bool:
    """Insert a row unless one with an equal unique key exists; True if this call inserted it."""
    postgres = session.get_bind().dialect.name == "postgresql"
    insert = postgresql.insert(table) if postgres else sqlite.insert(table)
    once = insert.values(**values).on_conflict_do_nothing()
    # RETURNING and not the row count, which Postgres' driver does not tell for this statement.
    return session.scalar(once.returning(literal_column("1", Integer))) is not None
