"""An album is one turn, wherever the process dies."""

import asyncio
import re
import signal

import pytest

from tests.chaos.drive import until
from tests.chaos.nodes import Nodes
from tests.chaos.rest import ledger, open_rows
from tests.emulators.openai import ChatRequest, OpenAIEmulator, Reply
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site

pytestmark = [pytest.mark.xdist_group("chaos"), pytest.mark.timeout(300)]

SECONDS = 60
FILES = {"a.txt": b"one", "b.txt": b"two", "c.txt": b"three"}


def names(request: ChatRequest) -> Reply:
    """Say which files came."""
    return Reply(" ".join(re.findall(r"/uploads/(\S+) ", request.last_user_text)))


@pytest.mark.parametrize("die_at", ["stored:2", "claimed", "model", "ended", "closed"])
async def test_an_album_is_one_turn_wherever_the_process_dies(
    sqlite_site: Site, sqlite_nodes: Nodes, telegram: TelegramEmulator, openai: OpenAIEmulator, die_at: str
) -> None:
    openai.responder = names
    ada = telegram.user(7, "Ada")
    chat = telegram.private_chat(ada)
    telegram.send_album(chat, ada, FILES, {})
    node = sqlite_nodes.start("doomed", die_at)
    assert await sqlite_nodes.wait_for_end(node, SECONDS) == -signal.SIGKILL
    node = sqlite_nodes.start("healthy")
    await telegram.wait_for_sent(1, SECONDS)
    await asyncio.wait_for(until(lambda: not open_rows(sqlite_site)), SECONDS)
    node.signal(signal.SIGTERM)
    assert await sqlite_nodes.wait_for_end(node, SECONDS) == 0
    assert [sent.text for sent in telegram.sent] == ["a.txt b.txt c.txt"]
    assert ledger(sqlite_site, "SELECT state FROM runs") == [("done",)]
    assert ledger(sqlite_site, "SELECT count(*) FROM inbound WHERE joined_to IS NOT NULL") == [(3,)]
