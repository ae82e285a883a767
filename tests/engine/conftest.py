"""Fixtures that many tests share."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.emulators.openai import OpenAIEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.engine.people import Person
from tests.hart import Site
from tests.storage import fresh_postgres


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """A fresh database on Postgres."""
    with fresh_postgres() as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """Each storage in turn: None for SQLite, a fresh database's URL for Postgres."""
    if request.param == "sqlite":
        yield None
        return
    with fresh_postgres() as url:
        yield url


@pytest.fixture
def site(tmp_path: Path, database_url: str | None) -> Site:
    """A place for Hart to run, on each storage."""
    return Site(tmp_path, database_url)


@pytest.fixture
async def openai() -> AsyncIterator[OpenAIEmulator]:
    """An emulated model server that echoes."""
    async with OpenAIEmulator(models=("test-model", "other-model")) as emulator:
        yield emulator


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramEmulator]:
    """An emulated Telegram."""
    async with TelegramEmulator() as emulator:
        yield emulator


@pytest.fixture
def open_site(site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator) -> Site:
    """A place where Hart answers everybody on Telegram with two models, which are asked once a call."""
    site.use_openai(openai, "test-model", "other-model")
    site.use_telegram(telegram)
    site.config["limits"] = {"model_retries": 0, "drain_seconds": 0}
    return site


@pytest.fixture
def sqlite_site(tmp_path: Path, openai: OpenAIEmulator, telegram: TelegramEmulator) -> Site:
    """The same on SQLite alone, for what has nothing to do with storage."""
    site = Site(tmp_path)
    site.use_openai(openai, "test-model", "other-model")
    site.use_telegram(telegram)
    site.config["limits"] = {"model_retries": 0, "drain_seconds": 0}
    return site


@pytest.fixture
def ada(telegram: TelegramEmulator) -> Person:
    """Somebody with a private chat."""
    return Person.new(telegram, 7, "Ada")


@pytest.fixture
def bo(telegram: TelegramEmulator) -> Person:
    """Somebody else."""
    return Person.new(telegram, 8, "Bo")
