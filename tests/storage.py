"""The two databases that everything must work on."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

POSTGRES = os.environ.get("HART_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
"""A server on which the tests may make and drop databases."""


@contextmanager
def fresh_postgres() -> Iterator[str]:
    """The URL of a new, empty database, dropped at the end. Skips where no server runs, except in CI."""
    name = f"hart_test_{uuid.uuid4().hex[:12]}"
    try:
        admin = psycopg.connect(POSTGRES, autocommit=True, connect_timeout=3)
    except psycopg.OperationalError:
        if os.environ.get("CI"):
            raise
        pytest.skip("no Postgres server here")
    with admin:
        admin.execute(f"CREATE DATABASE {name}")
        try:
            yield urlunsplit(urlsplit(POSTGRES)._replace(path=f"/{name}"))
        finally:
            admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
