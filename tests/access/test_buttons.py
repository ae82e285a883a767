"""A button is a command that waits: it is given once, by whom it is for, where it is shown, within a day."""

from datetime import timedelta

import pytest

from bot.buttons import EXPIRED, NOT_YOURS, UNKNOWN, USED
from bot.store.tables import Action, Inbound, Thread
from tests.access.conftest import ADMIN, OWNER
from tests.clock import ManualClock
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.telegram import Sent, TelegramEmulator
from tests.engine.ledger import eventually, rows
from tests.engine.people import Person
from tests.hart import Site, hart_on, local_client


async def offered(asker: Person, number: int = 1) -> Sent:
    """Ask for the models, and give the message with the buttons."""
    asker.says("/models")
    await asker.hears(number)
    return asker.got()[number - 1]


async def test_pressing_a_button_is_writing_its_command(
    house: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, owner: Person
) -> None:
    async with hart_on(house) as hart:
        listing = await offered(owner)
        telegram.press(listing, "other-model", owner.user)
        answer = (await owner.hears(2))[1]
        owner.says("hello")
        await owner.hears(3)
        (action,) = await rows(hart, Action)
        commands = [row for row in await rows(hart, Inbound) if row.kind == "command"]
    assert [label for label, _ in listing.buttons] == ["other-model"], "the model in use needs no button"
    assert "/models name" in listing.text, "the text says the command too"
    assert len(listing.buttons[0][1]) == 16
    assert answer.startswith("This conversation now uses other-model.")
    assert openai.accepted[-1].json["model"] == "other-model"
    assert [row.text for row in commands] == ["/models", "/models other-model"]
    assert (action.used_by, action.sender_id) == (str(OWNER), str(OWNER))


async def test_a_press_is_acknowledged_and_heard_once(
    sqlite_house: Site, telegram: TelegramEmulator, owner: Person
) -> None:
    async with hart_on(sqlite_house) as hart:
        listing = await offered(owner)
        query = telegram.press(listing, "other-model", owner.user)
        telegram.push_raw(
            {
                "callback_query": {
                    "id": query,
                    "from": owner.user.as_json(),
                    "message": telegram.messages[listing.chat_id, listing.message_id],
                    "chat_instance": "1",
                    "data": listing.buttons[0][1],
                }
            }
        )
        await owner.hears(2)
        await telegram.wait_until_heard()
        await telegram.wait_for(lambda: query not in telegram.presses)
        owner.says("/status")
        assert len(await owner.hears(3)) == 3
        assert len(await rows(hart, Inbound)) == 3


async def test_a_button_that_was_pressed_before_does_nothing(
    house: Site, telegram: TelegramEmulator, owner: Person
) -> None:
    async with hart_on(house) as hart:
        listing = await offered(owner)
        telegram.press(listing, "other-model", owner.user)
        await owner.hears(2)
        owner.says("/models test-model")
        await owner.hears(3)
        telegram.press(listing, "other-model", owner.user)
        replayed = (await owner.hears(4))[3]
        (thread,) = await rows(hart, Thread)
        denied = [row for row in await rows(hart, Inbound) if row.kind == "denied"]
    assert replayed == USED
    assert thread.model == "test-model"
    assert [(row.sender_id, row.note) for row in denied] == [(str(OWNER), "button")]


async def test_a_button_is_too_old_after_a_day_and_unknown_after_two(
    house: Site, clock: ManualClock, telegram: TelegramEmulator, owner: Person
) -> None:
    async with hart_on(house, clock) as hart:
        listing = await offered(owner)
        clock.move(timedelta(hours=24))
        telegram.press(listing, "other-model", owner.user)
        assert (await owner.hears(2))[1] == EXPIRED
        clock.move(timedelta(hours=25))
        await offered(owner, 3)
        telegram.press(listing, "other-model", owner.user)
        assert (await owner.hears(4))[3] == UNKNOWN
        assert len(await rows(hart, Action)) == 1, "old ones are forgotten"
        (thread,) = await rows(hart, Thread)
    assert thread.model is None


async def test_another_persons_button_does_nothing(
    house: Site, telegram: TelegramEmulator, owner: Person, admin: Person
) -> None:
    group = telegram.group("Team")
    house.use_telegram(telegram, access={"owners": [OWNER], "admins": [ADMIN], "groups": [group.id]})
    async with hart_on(house) as hart:
        telegram.say(group, owner.user, "/models@hart_team_bot")
        (listing,) = await telegram.wait_for_sent(1, timeout=30)
        telegram.press(listing, "other-model", admin.user)
        refused = (await telegram.wait_for_sent(2, timeout=30))[1]
        (action,) = await rows(hart, Action)
        (thread,) = await rows(hart, Thread)
        assert (refused.text, refused.chat_id) == (NOT_YOURS, group.id)
        assert (action.used_at, thread.model) == (None, None)
        telegram.press(listing, "other-model", owner.user)
        done = (await telegram.wait_for_sent(3, timeout=30))[2]
    assert done.text.startswith("This conversation now uses")


async def test_a_button_of_another_chat_and_one_that_never_was_do_nothing(
    house: Site, telegram: TelegramEmulator, owner: Person, admin: Person
) -> None:
    async with hart_on(house) as hart:
        listing, elsewhere = await offered(owner), await offered(admin)
        for data in (listing.buttons[0][1], "never-was", "' OR 1=1 --", "x" * 64, "/new"):
            telegram.press_data(elsewhere, data, admin.user)
        answers = (await admin.hears(6))[1:]
        assert answers == [UNKNOWN] * 5
        assert all(action.used_at is None for action in await rows(hart, Action))
        assert {thread.model for thread in await rows(hart, Thread)} == {None}
        telegram.press_data(elsewhere, "x" * 65, admin.user)
        await telegram.wait_until_heard()
        owner.says("hello")
        await owner.hears(2)
    assert len(admin.got()) == 6, "no platform sends this much: set aside"


@pytest.mark.parametrize("who", ["stranger", "bot"])
async def test_a_stranger_and_a_bot_press_in_vain(
    house: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, owner: Person, who: str
) -> None:
    presser = telegram.user(99, "Someone", is_bot=who == "bot")
    async with hart_on(house) as hart:
        listing = await offered(owner)
        telegram.press(listing, "other-model", presser)
        await telegram.wait_until_heard()
        owner.says("hello")
        await owner.hears(3 if who == "stranger" else 2)
        (action,) = await rows(hart, Action)
        commands = [row for row in await rows(hart, Inbound) if row.kind == "command"]
    assert action.used_at is None
    assert len(commands) == 1
    assert openai.accepted[-1].json["model"] == "test-model"


async def test_a_press_needs_the_role_that_the_command_needs(
    house: Site, telegram: TelegramEmulator, owner: Person
) -> None:
    async with hart_on(house):
        listing = await offered(owner)
    house.use_telegram(telegram, access={"users": [OWNER], "commands": {"models": "admin"}})
    async with hart_on(house) as hart:
        telegram.press(listing, "other-model", owner.user)
        assert (await owner.hears(2))[1] == "/models is for admins."
        (thread,) = await rows(hart, Thread)
    assert thread.model is None


async def test_a_press_in_a_topic_is_about_the_topics_conversation(
    sqlite_house: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, owner: Person
) -> None:
    forum = telegram.group("Team", forum=True)
    topic = telegram.topic(forum, "Plans")
    sqlite_house.use_telegram(telegram, access={"owners": [OWNER], "groups": [forum.id]})
    async with hart_on(sqlite_house):
        telegram.say(forum, owner.user, "/models@hart_team_bot", thread=topic)
        (listing,) = await telegram.wait_for_sent(1, timeout=30)
        telegram.press(listing, "other-model", owner.user)
        done = (await telegram.wait_for_sent(2, timeout=30))[1]
        telegram.say(forum, owner.user, "@hart_team_bot hello", thread=topic)
        await telegram.wait_for_sent(3, timeout=30)
    assert (listing.thread, done.thread) == (topic, topic)
    assert openai.accepted[-1].json["model"] == "other-model"


async def test_where_there_are_no_buttons_the_text_says_what_to_write(sqlite_house: Site) -> None:
    async with hart_on(sqlite_house) as hart, local_client(hart) as client:
        await client.post("desk", "/models", "m1")

        async def answered() -> str | None:
            entries = (await client.history("desk", 50)).entries
            return next((entry.text for entry in entries if entry.role == "hart"), None)

        assert "Switch with `/models name`." in await eventually(answered)
