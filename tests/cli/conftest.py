"""What the tests of the command share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.emulators.openai import OpenAIEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A configuration directory with a home, on SQLite, with the stand-in model."""
    return Site(tmp_path)


@pytest.fixture
async def openai() -> AsyncIterator[OpenAIEmulator]:
    """An emulated model server that echoes."""
    async with OpenAIEmulator() as emulator:
        yield emulator


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramEmulator]:
    """An emulated Telegram."""
    async with TelegramEmulator() as emulator:
        yield emulator
