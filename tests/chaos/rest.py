"""Whether the ledger is at rest, read with plain SQL beside the processes that write it."""

import sqlite3
from contextlib import closing
from typing import Any

import psycopg

from bot.home import Home
from tests.hart import Site

_OPEN = (
    "SELECT (SELECT count(*) FROM inbound WHERE done_at IS NULL)"
    " + (SELECT count(*) FROM deliveries WHERE state IN ('open', 'sending'))"
)


def open_rows(site: Site) -> int:
    """How many messages wait for an answer and how many deliveries for being sent."""
    count: int = ledger(site, _OPEN)[0][0]
    return count


def ledger(site: Site, query: str) -> list[tuple[Any, ...]]:
    """Rows of the ledger."""
    if site.database_url is None:
        with closing(sqlite3.connect(Home(site.home).ledger, timeout=10)) as connection:
            return connection.execute(query).fetchall()
    with psycopg.connect(site.database_url, autocommit=True) as postgres:
        return postgres.execute(query.encode()).fetchall()
