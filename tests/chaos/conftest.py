"""Fixtures of the crash tests."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.chaos.nodes import Nodes, Nursery
from tests.chaos.script import model
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site
from tests.storage import fresh_postgres

FULL = os.environ.get("HART_CHAOS") == "full"
"""Set by ``make chaos``: longer drives, and each process started as the installed command."""

# Not a skip, which would be a failure in CI.
collect_ignore = [] if FULL else ["test_killed_at_first_start.py", "test_paused_under_load.py"]


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """Where processes come from."""
    with Nursery(by_exec=FULL) as started:
        yield started


@pytest.fixture
async def openai() -> AsyncIterator[OpenAIEmulator]:
    """The model, playing its part of the script."""
    async with OpenAIEmulator(model) as emulator:
        yield emulator


@pytest.fixture
def sqlite_site(tmp_path: Path, openai: OpenAIEmulator, telegram: TelegramEmulator) -> Site:
    """A place to run on SQLite."""
    return _connected(Site(tmp_path), openai, telegram)


@pytest.fixture
def postgres_site(tmp_path: Path, openai: OpenAIEmulator, telegram: TelegramEmulator) -> Iterator[Site]:
    """A place to run on Postgres."""
    with fresh_postgres() as url:
        yield _connected(Site(tmp_path, url), openai, telegram)


def _connected(site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator) -> Site:
    site.use_openai(openai)
    site.use_telegram(telegram)
    return site


@pytest.fixture
def sqlite_nodes(sqlite_site: Site, nursery: Nursery) -> Iterator[Nodes]:
    """Processes on SQLite; none is left after the test."""
    with Nodes(sqlite_site, nursery) as nodes:
        yield nodes


@pytest.fixture
def postgres_nodes(postgres_site: Site, nursery: Nursery) -> Iterator[Nodes]:
    """Processes on Postgres; none is left after the test."""
    with Nodes(postgres_site, nursery) as nodes:
        yield nodes
