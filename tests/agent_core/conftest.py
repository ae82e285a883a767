"""A store for the tests that must hold on both: SQLite and Postgres."""

import os
import uuid
from collections.abc import AsyncIterator

import psycopg
import pytest

SERVER = os.environ.get("HART_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432")


async def _make_database() -> tuple[str, str]:
    name = f"hart_agent_{uuid.uuid4().hex[:12]}"
    try:
        connection = await psycopg.AsyncConnection.connect(f"{SERVER}/postgres", autocommit=True)
    except psycopg.OperationalError:
        if os.environ.get("CI"):
            raise
        pytest.skip("no Postgres server")
    async with connection:
        await connection.execute(f'CREATE DATABASE "{name}"')
    return name, f"{SERVER}/{name}"


async def _drop_database(name: str) -> None:
    async with await psycopg.AsyncConnection.connect(f"{SERVER}/postgres", autocommit=True) as connection:
        await connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
async def postgres_url() -> AsyncIterator[str]:
    """A fresh database."""
    name, url = await _make_database()
    yield url
    await _drop_database(name)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
async def store_url(request: pytest.FixtureRequest) -> AsyncIterator[str | None]:
    """A fresh store: None for SQLite, an address for Postgres."""
    if request.param == "sqlite":
        yield None
        return
    name, url = await _make_database()
    yield url
    await _drop_database(name)
