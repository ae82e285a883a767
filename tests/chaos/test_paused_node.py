"""A node that stands still for a while and wakes up again does no harm to what others did meanwhile."""

import asyncio
import signal

import pytest

from bot.engine.fence import STALE_SECONDS
from tests.chaos.drive import observe, until
from tests.chaos.nodes import READY, Nodes
from tests.chaos.oracle import Said, repeats, violations
from tests.chaos.rest import ledger, open_rows
from tests.chaos.script import SCRIPT, line, model
from tests.emulators.openai import ChatRequest, OpenAIEmulator, Reply
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site

pytestmark = [pytest.mark.xdist_group("chaos"), pytest.mark.timeout(300)]

SECONDS = 90


class Gates:
    """A model that holds each request back until its own gate is opened."""

    def __init__(self, count: int) -> None:
        self._gates = [asyncio.Event() for _ in range(count)]
        self._asked = 0

    def open(self, number: int) -> None:
        self._gates[number].set()

    async def __call__(self, request: ChatRequest) -> Reply:
        number = self._asked
        self._asked += 1
        if number < len(self._gates):
            await self._gates[number].wait()
        return model(request)


NOTICE_SECONDS = 6.0
"""Longer than a woken node takes to see that it was replaced, and than a freed lane waits to be served."""


@pytest.mark.postgres
async def test_a_node_that_wakes_up_leaves_the_run_to_its_successor(
    postgres_site: Site, postgres_nodes: Nodes, telegram: TelegramEmulator, openai: OpenAIEmulator
) -> None:
    gates = openai.responder = Gates(2)
    ada = telegram.user(7, "Ada")
    chat = telegram.private_chat(ada)
    said = Said(chat.id, line(chat.id, 0, file=False))
    first = postgres_nodes.start("first")
    await postgres_nodes.wait_for_print(first, READY, SECONDS)
    ((workers_of_first,),) = ledger(postgres_site, "SELECT max(id) FROM procrastinate_workers")
    second = postgres_nodes.start("second")
    await postgres_nodes.wait_for_print(second, READY, SECONDS)
    telegram.say(chat, ada, said.text)
    await openai.wait_for(lambda: len(openai.requests) == 1, SECONDS)
    ((worker,),) = ledger(
        postgres_site, "SELECT worker_id FROM procrastinate_jobs WHERE lock LIKE 'thread:%'"
    )
    holder = first if worker <= workers_of_first else second
    holder.signal(signal.SIGSTOP)
    await openai.wait_for(lambda: len(openai.requests) == 2, SECONDS)

    holder.signal(signal.SIGCONT)
    gates.open(0)
    await asyncio.sleep(NOTICE_SECONDS)
    asked = len(openai.requests)
    gates.open(1)
    await telegram.wait_for_sent(1, SECONDS)
    await asyncio.wait_for(until(lambda: not open_rows(postgres_site)), SECONDS)
    for node in (first, second):
        node.signal(signal.SIGTERM)
        assert await postgres_nodes.wait_for_end(node, SECONDS) == 0, node.log.read_text()
    assert asked == 2
    assert ledger(postgres_site, "SELECT attempts FROM runs") == [(2,)]
    assert violations(await observe(postgres_site, telegram, openai, [said], []), SCRIPT) == []


async def test_alone_on_sqlite_a_run_goes_on_after_a_pause_as_after_a_closed_laptop(
    sqlite_site: Site, sqlite_nodes: Nodes, telegram: TelegramEmulator, openai: OpenAIEmulator
) -> None:
    gates = openai.responder = Gates(1)
    ada = telegram.user(7, "Ada")
    chat = telegram.private_chat(ada)
    said = Said(chat.id, line(chat.id, 0, file=True))
    node = sqlite_nodes.start("node")
    telegram.say(chat, ada, said.text)
    await openai.wait_for(lambda: len(openai.requests) == 1, SECONDS)
    node.signal(signal.SIGSTOP)
    await asyncio.sleep(STALE_SECONDS + 2)
    node.signal(signal.SIGCONT)
    await asyncio.sleep(1.0)  # it asks the ledger whether the lane is still its own
    gates.open(0)
    await telegram.wait_for_sent(2, SECONDS)
    await asyncio.wait_for(until(lambda: not open_rows(sqlite_site)), SECONDS)
    node.signal(signal.SIGTERM)
    assert await sqlite_nodes.wait_for_end(node, SECONDS) == 0
    seen = await observe(sqlite_site, telegram, openai, [said], [])
    assert violations(seen, SCRIPT) == []
    assert repeats(seen).requests == 0
    assert ledger(sqlite_site, "SELECT attempts FROM runs") == [(1,)]
