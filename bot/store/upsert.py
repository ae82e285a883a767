"""Inserts that bear a row which is there already.

Written as text: both databases spell them alike, and every message makes several of them. SQLAlchemy's own
form of them goes the way of the ORM's bulk inserts, which takes longer than the statement itself.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlalchemy import TextClause, bindparam, inspect, text
from sqlmodel import Session, SQLModel


def insert_once(session: Session, table: type[SQLModel], values: Mapping[str, Any]) -> bool:
    """Insert a row unless one with an equal unique key exists; True if this call inserted it."""
    # RETURNING and not the row count, which Postgres' driver does not tell for this statement.
    statement = _insert(table, tuple(values), "ON CONFLICT DO NOTHING RETURNING 1")
    return session.scalar(statement, values) is not None


def add_to(session: Session, table: type[SQLModel], key: str, value: str, number: str, amount: int) -> int:
    """Add to a number in the row of a key, or insert the row with that amount; returns the sum.

    Args:
        session: The unit of work.
        table: Where.
        key: The column that must be unique.
        value: What it holds in the wanted row.
        number: The column to add to.
        amount: How much; with 0 the row is still written, which locks it on Postgres.
    """
    own = f"{inspect(table).local_table.name}.{number}"
    change = f"ON CONFLICT ({key}) DO UPDATE SET {number} = {own} + :{number} RETURNING {number}"
    total: int = session.scalar(_insert(table, (key, number), change), {key: value, number: amount})
    return total


@cache
def _insert(table: type[SQLModel], columns: tuple[str, ...], rest: str) -> TextClause:
    """The statement for these columns. Only names from our own code get into it; values are bound."""
    known = inspect(table).local_table
    names, places = ", ".join(columns), ", ".join(f":{column}" for column in columns)
    statement = text(f"INSERT INTO {known.name} ({names}) VALUES ({places}) {rest}")  # noqa: S608
    return statement.bindparams(*(bindparam(column, type_=known.c[column].type) for column in columns))
