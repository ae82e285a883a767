"""A message at which the process dies each time is set aside, and the person is told."""

import asyncio
import signal

import pytest

from tests.chaos.drive import histories, until
from tests.chaos.nodes import Nodes
from tests.chaos.oracle import Line, Speaker
from tests.chaos.rest import ledger, open_rows
from tests.chaos.script import answer, line, request_lines
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site

pytestmark = [pytest.mark.xdist_group("chaos"), pytest.mark.timeout(300)]

SECONDS = 60
ATTEMPTS = 5


async def test_after_five_deaths_a_message_is_set_aside_and_the_next_one_is_answered(
    sqlite_site: Site, sqlite_nodes: Nodes, telegram: TelegramEmulator, openai: OpenAIEmulator
) -> None:
    ada = telegram.user(7, "Ada")
    chat = telegram.private_chat(ada)
    deadly, harmless = line(chat.id, 0, file=False), line(chat.id, 1, file=False)
    telegram.say(chat, ada, deadly)
    for _ in range(ATTEMPTS):
        node = sqlite_nodes.start("doomed", "model")
        assert await sqlite_nodes.wait_for_end(node, SECONDS) == -signal.SIGKILL
    assert telegram.sent == []

    node = sqlite_nodes.start("doomed", "model")
    (told,) = await telegram.wait_for_sent(1, SECONDS)
    assert f"I tried {ATTEMPTS} times" in told.text
    assert len(openai.requests) == ATTEMPTS
    node.kill()
    await sqlite_nodes.wait_for_end(node, SECONDS)

    node = sqlite_nodes.start("healthy")
    telegram.say(chat, ada, harmless)
    await telegram.wait_for(lambda: telegram.sent[-1].text == answer(harmless), SECONDS)
    await asyncio.wait_for(until(lambda: not open_rows(sqlite_site)), SECONDS)
    node.signal(signal.SIGTERM)
    assert await sqlite_nodes.wait_for_end(node, SECONDS) == 0
    aside = Line(Speaker.ANSWER, "(Set aside: no attempt succeeded.)")
    asked = [Line(Speaker.HUMAN, deadly), aside, Line(Speaker.HUMAN, harmless)]
    assert request_lines(openai.requests[-1]) == asked
    assert await histories(sqlite_site) == [[*asked, Line(Speaker.ANSWER, answer(harmless))]]
    assert ledger(sqlite_site, "SELECT state FROM runs ORDER BY inbound_id") == [("set_aside",), ("done",)]
