"""Work that one node at a time may do."""

import asyncio

import psycopg
import pytest

from bot.roles import PostgresRoles
from tests.storage import fresh_postgres

pytestmark = pytest.mark.postgres


async def test_a_role_is_held_by_one_node_and_passes_on_when_it_ends() -> None:
    held: list[str] = []
    holding = asyncio.Event()
    go_on = asyncio.Event()

    async def first() -> None:
        held.append("first")
        holding.set()
        await go_on.wait()

    async def second() -> None:
        held.append("second")

    with fresh_postgres() as url:
        one = asyncio.create_task(PostgresRoles(url).run_as("telegram/main", first))
        await holding.wait()
        two = asyncio.create_task(PostgresRoles(url).run_as("telegram/main", second))
        await asyncio.sleep(0.1)
        assert held == ["first"]
        go_on.set()
        await asyncio.gather(one, two)
    assert held == ["first", "second"]


async def test_a_holder_whose_connection_is_lost_stops_and_asks_again() -> None:
    holding = asyncio.Event()
    began = 0
    ended = 0

    async def work() -> None:
        nonlocal began, ended
        began += 1
        holding.set()
        if began == 2:
            return
        try:
            await asyncio.Event().wait()
        finally:
            ended += 1

    with fresh_postgres() as url:
        task = asyncio.create_task(PostgresRoles(url).run_as("telegram/main", work))
        await holding.wait()
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database d ON d.oid = database "
                "WHERE locktype = 'advisory' AND d.datname = current_database()"
            )
        await asyncio.wait_for(task, 30)
    assert (began, ended) == (2, 1)
