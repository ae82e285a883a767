"""A node that stands still amid much work and wakes up again does no harm to what others did meanwhile.

Part of ``make chaos`` only, see ``conftest.py``.
"""

import asyncio
import signal
import time

import pytest

from tests.chaos.drive import observe, until
from tests.chaos.nodes import READY, Nodes
from tests.chaos.oracle import Disturbance, Said, repeats, violations
from tests.chaos.rest import open_rows
from tests.chaos.script import SCRIPT, line, model, parts
from tests.emulators.openai import ChatRequest, OpenAIEmulator, Reply
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site

pytestmark = [pytest.mark.xdist_group("chaos"), pytest.mark.timeout(300), pytest.mark.postgres]

PAUSE_SECONDS = 12.0
"""Long enough for others to take over: 6 s without a heartbeat, and the look for it every 2 s."""

CHATS = 6
SECONDS = 90


async def _slow(request: ChatRequest) -> Reply:
    reply = model(request)
    return Reply(reply.text, reply.calls, delay=1.0, chunk_delay=0.3)


@pytest.mark.parametrize("paused", [0, 1])
async def test_a_node_that_was_paused_muddles_no_history_and_answers_nothing_twice(
    paused: int,
    postgres_site: Site,
    postgres_nodes: Nodes,
    telegram: TelegramEmulator,
    openai: OpenAIEmulator,
) -> None:
    openai.responder = _slow
    nodes = [postgres_nodes.start(f"node{number}") for number in range(2)]
    for node in nodes:
        await postgres_nodes.wait_for_print(node, READY, SECONDS)
    said: list[Said] = []
    for number in range(3):
        for person in range(CHATS):
            user = telegram.user(101 + person, f"P{person}")
            chat = telegram.private_chat(user)
            said.append(Said(chat.id, line(chat.id, number, file=number != 1)))
            telegram.say(chat, user, said[-1].text)
    await openai.wait_for(lambda: len(openai.requests) >= CHATS + 2, SECONDS)

    since = time.time()
    nodes[paused].signal(signal.SIGSTOP)
    await asyncio.sleep(PAUSE_SECONDS)
    nodes[paused].signal(signal.SIGCONT)
    pause = Disturbance(since, time.time() + 1.0)

    posts = sum(len(parts(one.text)) for one in said)
    await telegram.wait_for_sent(posts, SECONDS)
    await asyncio.wait_for(until(lambda: not open_rows(postgres_site)), SECONDS)
    for node in nodes:
        node.signal(signal.SIGTERM)
        assert await postgres_nodes.wait_for_end(node, SECONDS) == 0, node.log.read_text()
    seen = await observe(postgres_site, telegram, openai, said, [pause])
    print("\n", repeats(seen))
    assert violations(seen, SCRIPT) == []
