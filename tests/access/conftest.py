"""A Hart on the emulated Telegram that knows its owner and an admin, and nobody else."""

import re

import pytest

from tests.clock import ManualClock
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.engine.people import Person
from tests.hart import Site

OWNER, ADMIN = 1, 2


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def house(site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator) -> Site:
    """Access as it is by default, with an owner and an admin."""
    return furnish(site, openai, telegram)


@pytest.fixture
def sqlite_house(tmp_path, openai: OpenAIEmulator, telegram: TelegramEmulator) -> Site:
    """The same on SQLite alone, for what has nothing to do with storage."""
    return furnish(Site(tmp_path), openai, telegram)


def furnish(site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator) -> Site:
    site.use_openai(openai, "test-model", "other-model")
    site.use_telegram(telegram, access={"owners": [OWNER], "admins": [ADMIN]})
    site.config["limits"] = {"model_retries": 0, "drain_seconds": 0}
    return site


@pytest.fixture
def owner(telegram: TelegramEmulator) -> Person:
    return Person.new(telegram, OWNER, "Olga")


@pytest.fixture
def admin(telegram: TelegramEmulator) -> Person:
    return Person.new(telegram, ADMIN, "Abe")


@pytest.fixture
def ada(telegram: TelegramEmulator) -> Person:
    """A stranger."""
    return Person.new(telegram, 7, "Ada")


@pytest.fixture
def bo(telegram: TelegramEmulator) -> Person:
    """Another stranger."""
    return Person.new(telegram, 8, "Bo")


def code_in(text: str) -> str:
    """The code that a stranger was told."""
    found = set(re.findall(r"\b[A-Z2-9]{4}-[A-Z2-9]{4}\b", text))
    assert len(found) == 1, text
    return found.pop()
