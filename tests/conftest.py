"""Fixtures that many tests share, and the rule that CI skips nothing."""

import os
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import pytest

from tests.emulators.openai import OpenAIEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site
from tests.storage import fresh_postgres


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI everything a test may need is there, so a skipped test is a failed one."""
    report = yield
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        _fail(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for files that skip themselves whole."""
    report = yield
    if os.environ.get("CI") and report.skipped:
        _fail(report)
    return report


def _fail(report: pytest.TestReport | pytest.CollectReport) -> None:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    report.outcome = "failed"
    report.longrepr = f"{report.nodeid}: skipped, which is a failure in CI ({reason})"


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
