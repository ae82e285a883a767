"""Updates that make no sense are recorded and skipped; the good ones among them are answered."""

import asyncio
import signal

import pytest

from tests.chaos.drive import observe, until
from tests.chaos.nodes import Nodes
from tests.chaos.oracle import Said, violations
from tests.chaos.rest import ledger, open_rows
from tests.chaos.script import SCRIPT, line
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.telegram import Chat, TelegramEmulator, User
from tests.hart import Site

pytestmark = [pytest.mark.xdist_group("chaos"), pytest.mark.timeout(300)]

SECONDS = 90


def _poison(chat: Chat, user: User) -> list[tuple[object, bool]]:
    """Ten updates, each with whether it must be recorded: what is merely of no concern is not."""
    whole = {"message_id": 900_001, "chat": chat.as_json(), "from": user.as_json(), "date": 1, "text": "hm"}
    return [
        (b'{"update_id": %ID%, "message": {"text": "\xff\xfe broken', True),
        ([1, 2, 3], True),
        ({"message": {}}, True),
        ({"message": {**whole, "chat": {"id": "seven"}}}, True),
        ({"message": {**whole, "from": "Ada"}}, True),
        ({"message": {**whole, "message_id": -1}}, True),
        ({"message": {**whole, "message_id": 900_002, "text": "A" * 1_000_000}}, True),
        ({"message": {**whole, "message_id": 10**30}}, True),
        ({"a_type_of_tomorrow": {"id": 1}}, False),
        ({"message": {**whole, "chat": {**chat.as_json(), "type": "holodeck"}}}, False),
    ]


async def test_poison_is_recorded_and_skipped_and_good_messages_around_it_are_answered(
    sqlite_site: Site, sqlite_nodes: Nodes, telegram: TelegramEmulator, openai: OpenAIEmulator
) -> None:
    ada = telegram.user(7, "Ada")
    chat = telegram.private_chat(ada)
    mallory = telegram.user(66, "Mallory")
    theirs = telegram.private_chat(mallory)
    poison = _poison(theirs, mallory)
    said = []
    for number, (update, _) in enumerate(poison):
        telegram.push_raw(update)
        text = line(chat.id, number, file=False)
        telegram.say(chat, ada, text)
        said.append(Said(chat.id, text))
    node = sqlite_nodes.start("node")
    await telegram.wait_for_sent(len(said) + 1, SECONDS)
    await telegram.wait_until_heard(SECONDS)
    await asyncio.wait_for(until(lambda: not open_rows(sqlite_site)), SECONDS)
    node.signal(signal.SIGTERM)
    assert await sqlite_nodes.wait_for_end(node, SECONDS) == 0

    (too_long,) = [sent for sent in telegram.sent if sent.chat_id == theirs.id]
    assert "too long" in too_long.text
    telegram.sent.remove(too_long)
    assert violations(await observe(sqlite_site, telegram, openai, said, []), SCRIPT) == []
    recorded = ledger(sqlite_site, "SELECT note, length(body) FROM inbound WHERE kind = 'rejected'")
    assert len(recorded) == sum(must for _, must in poison)
    assert all(note for note, _ in recorded)
    assert max(length for _, length in recorded) <= 16_000
