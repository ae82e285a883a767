"""Groups: when a message in a topic need not name the bot, and that bots start nothing."""

import pytest

from bot.store.tables import Inbound
from tests.access.conftest import OWNER
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.engine.ledger import rows
from tests.engine.people import Person
from tests.hart import Site, hart_on


async def test_in_a_topic_where_hart_takes_part_a_message_need_not_name_it(
    house: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, owner: Person, ada: Person
) -> None:
    forum = telegram.group("Team", forum=True)
    plans, other = telegram.topic(forum, "Plans"), telegram.topic(forum, "Other")
    plain = telegram.group("Plain")
    house.use_telegram(telegram, access={"groups": [forum.id, plain.id], "mention": "thread"})
    async with hart_on(house) as hart:
        telegram.say(forum, ada.user, "lunch?", thread=plans)
        telegram.say(forum, ada.user, "@hart_team_bot the plan", thread=plans)
        await telegram.wait_for_sent(1, timeout=30)
        telegram.say(forum, ada.user, "and then?", thread=plans)
        telegram.say(forum, ada.user, "lunch again?", thread=other)
        telegram.say(plain, ada.user, "lunch at last?")
        telegram.say(plain, ada.user, "@hart_team_bot hello")
        sent = await telegram.wait_for_sent(3, timeout=30)
        await telegram.wait_until_heard()
        inbound = await rows(hart, Inbound)
    assert [row.text for row in inbound] == ["the plan", "and then?", "hello"]
    assert {one.text for one in sent} == {f"answer to: {row.text}" for row in inbound}
    assert "lunch" not in str([request.body for request in openai.requests])


@pytest.mark.parametrize("mention", ["required", "thread", "optional"])
async def test_a_bot_starts_nothing_whatever_is_heard(
    sqlite_house: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, owner: Person, mention: str
) -> None:
    group = telegram.group("Team")
    other_bot = telegram.user(555, "Other", "other_bot", is_bot=True)
    access = {"owners": [OWNER, 555], "groups": [group.id], "mention": mention}
    sqlite_house.use_telegram(telegram, access=access)
    async with hart_on(sqlite_house) as hart:
        telegram.say(group, other_bot, "@hart_team_bot hello")
        telegram.say(group, other_bot, "/status@hart_team_bot")
        telegram.say(group, telegram.bot, "@hart_team_bot myself")
        telegram.say(telegram.private_chat(other_bot), other_bot, "hello")
        owner.says("hello")
        await owner.hears(1)
        assert [row.sender_id for row in await rows(hart, Inbound)] == [str(OWNER)]
    assert len(openai.requests) == 1
    assert len(telegram.sent) == 1


async def test_a_strangers_file_is_not_fetched(
    sqlite_house: Site, telegram: TelegramEmulator, owner: Person, ada: Person
) -> None:
    async with hart_on(sqlite_house):
        telegram.send_document(ada.chat, ada.user, "secret.txt", b"secret", caption="read this")
        await ada.hears(1)
        owner.says("hello")
        await owner.hears(1)
    assert telegram.count("getFile") == 0
