"""Fixtures that many tests share, and the rule that CI skips nothing."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.emulators.feishu import FeishuEmulator
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.slack import SlackEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site
from tests.no_skips import pytest_make_collect_report, pytest_runtest_makereport
from tests.platforms import OnFeishu, OnSlack, OnTelegram, Platform
from tests.storage import fresh_postgres

__all__ = ["pytest_make_collect_report", "pytest_runtest_makereport"]


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
async def slack() -> AsyncIterator[SlackEmulator]:
    """An emulated Slack."""
    async with SlackEmulator() as emulator:
        yield emulator


@pytest.fixture
async def feishu() -> AsyncIterator[FeishuEmulator]:
    """An emulated Feishu."""
    async with FeishuEmulator() as emulator:
        yield emulator


@pytest.fixture(params=[OnTelegram, OnSlack, OnFeishu], ids=lambda kind: kind.name)
async def platform(request: pytest.FixtureRequest) -> AsyncIterator[Platform]:
    """Each emulated platform in turn."""
    emulators = {OnTelegram: TelegramEmulator, OnSlack: SlackEmulator, OnFeishu: FeishuEmulator}
    async with emulators[request.param]() as emulator:
        yield request.param(emulator)
