"""SIGTERM: running work has a moment; what is left goes on in the next process as if nothing had been."""

import asyncio
import signal
import time

import pytest

from tests.chaos.drive import observe, until
from tests.chaos.nodes import READY, Nodes
from tests.chaos.oracle import Said, repeats, violations
from tests.chaos.rest import ledger, open_rows
from tests.chaos.script import SCRIPT, line, model
from tests.emulators.openai import ChatRequest, OpenAIEmulator, Reply
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site

pytestmark = [pytest.mark.xdist_group("chaos"), pytest.mark.timeout(300)]

STOPPING = "Stopping"
SECONDS = 60


class Gate:
    """A model that thinks until the gate is opened."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()

    async def __call__(self, request: ChatRequest) -> Reply:
        await self.opened.wait()
        return model(request)


def _say(telegram: TelegramEmulator, number: int = 0) -> Said:
    ada = telegram.user(7, "Ada")
    chat = telegram.private_chat(ada)
    text = line(chat.id, number, file=True)
    telegram.say(chat, ada, text)
    return Said(chat.id, text)


async def test_a_run_that_outlasts_the_drain_goes_on_in_the_next_process_with_no_attempt_counted(
    sqlite_site: Site, sqlite_nodes: Nodes, telegram: TelegramEmulator, openai: OpenAIEmulator
) -> None:
    sqlite_site.config["limits"] = {"drain_seconds": 1}
    sqlite_site.write()
    gate = openai.responder = Gate()
    first = sqlite_nodes.start("first")
    said = _say(telegram)
    await openai.wait_for(lambda: len(openai.requests) == 1, SECONDS)
    first.signal(signal.SIGTERM)
    assert await sqlite_nodes.wait_for_end(first, SECONDS) == 0
    assert ledger(sqlite_site, "SELECT attempts, state FROM runs") == [(0, "running")]

    gate.opened.set()
    second = sqlite_nodes.start("second")
    await telegram.wait_for_sent(2, SECONDS)
    await asyncio.wait_for(until(lambda: not open_rows(sqlite_site)), SECONDS)
    second.signal(signal.SIGTERM)
    assert await sqlite_nodes.wait_for_end(second, SECONDS) == 0
    assert ledger(sqlite_site, "SELECT attempts, state FROM runs") == [(1, "done")]
    seen = await observe(sqlite_site, telegram, openai, [said], [])
    assert violations(seen, SCRIPT) == []
    assert repeats(seen).requests == 1


async def test_a_run_that_ends_within_the_drain_is_answered_before_the_process_goes(
    sqlite_site: Site, sqlite_nodes: Nodes, telegram: TelegramEmulator, openai: OpenAIEmulator
) -> None:
    sqlite_site.config["limits"] = {"drain_seconds": SECONDS}
    sqlite_site.write()
    gate = openai.responder = Gate()
    node = sqlite_nodes.start("node")
    said = _say(telegram)
    await openai.wait_for(lambda: len(openai.requests) == 1, SECONDS)
    node.signal(signal.SIGTERM)
    await sqlite_nodes.wait_for_print(node, STOPPING, SECONDS)
    gate.opened.set()
    assert await sqlite_nodes.wait_for_end(node, SECONDS) == 0
    seen = await observe(sqlite_site, telegram, openai, [said], [])
    assert violations(seen, SCRIPT) == []
    assert open_rows(sqlite_site) == 0


async def test_a_second_sigterm_ends_the_process_at_once_and_loses_nothing(
    sqlite_site: Site, sqlite_nodes: Nodes, telegram: TelegramEmulator, openai: OpenAIEmulator
) -> None:
    sqlite_site.config["limits"] = {"drain_seconds": 10 * SECONDS}
    sqlite_site.write()
    gate = openai.responder = Gate()
    first = sqlite_nodes.start("first")
    said = _say(telegram)
    await openai.wait_for(lambda: len(openai.requests) == 1, SECONDS)
    first.signal(signal.SIGTERM)
    await sqlite_nodes.wait_for_print(first, STOPPING, SECONDS)
    before = time.monotonic()
    first.signal(signal.SIGTERM)
    assert await sqlite_nodes.wait_for_end(first, SECONDS) == 130
    assert time.monotonic() - before < SECONDS

    gate.opened.set()
    second = sqlite_nodes.start("second")
    await telegram.wait_for_sent(2, SECONDS)
    await asyncio.wait_for(until(lambda: not open_rows(sqlite_site)), SECONDS)
    second.signal(signal.SIGTERM)
    assert await sqlite_nodes.wait_for_end(second, SECONDS) == 0
    assert violations(await observe(sqlite_site, telegram, openai, [said], []), SCRIPT) == []


@pytest.mark.postgres
async def test_a_node_that_goes_hands_its_run_to_another_at_once(
    postgres_site: Site, postgres_nodes: Nodes, telegram: TelegramEmulator, openai: OpenAIEmulator
) -> None:
    postgres_site.config["limits"] = {"drain_seconds": 1}
    postgres_site.write()
    gate = openai.responder = Gate()
    first = postgres_nodes.start("first")
    said = _say(telegram)
    await openai.wait_for(lambda: len(openai.requests) == 1, SECONDS)
    second = postgres_nodes.start("second")
    await postgres_nodes.wait_for_print(second, READY, SECONDS)
    first.signal(signal.SIGTERM)
    await openai.wait_for(lambda: len(openai.requests) == 2, SECONDS)
    gate.opened.set()
    await telegram.wait_for_sent(2, SECONDS)
    assert await postgres_nodes.wait_for_end(first, SECONDS) == 0
    await asyncio.wait_for(until(lambda: not open_rows(postgres_site)), SECONDS)
    second.signal(signal.SIGTERM)
    assert await postgres_nodes.wait_for_end(second, SECONDS) == 0
    assert ledger(postgres_site, "SELECT attempts, state FROM runs") == [(1, "done")]
    assert violations(await observe(postgres_site, telegram, openai, [said], []), SCRIPT) == []
