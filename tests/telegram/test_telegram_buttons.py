"""Buttons below messages, and presses of them."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.errors import PermanentSendError
from channels.messages import Address, Button, ChatKind, InboundMessage, OutboundMessage, OutboundText
from channels.telegram.normalize import (
    BotIdentity,
    Ignored,
    MalformedUpdateError,
    normalize,
    origin,
    press_id,
)
from channels.telegram.render import render
from tests.emulators.telegram import Hang, Refuse

BOT = BotIdentity(77, "hart_bot")
ANN = {"id": 501, "is_bot": False, "first_name": "Ann"}
US = {"id": 77, "is_bot": True, "first_name": "Hart", "username": "hart_bot"}
PRIVATE = {"id": 501, "type": "private", "first_name": "Ann"}
FORUM = {"id": -1002000, "type": "supergroup", "title": "Ops", "is_forum": True}
ASKED = {"message_id": 9, "date": 1_700_000_000, "from": US, "chat": PRIVATE, "text": "Which?"}


def press(**query):
    full = {"id": "4242", "from": ANN, "message": ASKED, "chat_instance": "1", "data": "abc"}
    return {"update_id": 5, "callback_query": {**full, **query}}


def text(*buttons):
    content = OutboundText("Which?", tuple(Button(*button) for button in buttons))
    return OutboundMessage(Address("telegram", "main", "501"), "k", content)


def test_each_button_has_a_row_of_its_own():
    call = render(text(("a1", "One"), ("b2", "Two")))
    assert call.params["reply_markup"] == {
        "inline_keyboard": [
            [{"text": "One", "callback_data": "a1"}],
            [{"text": "Two", "callback_data": "b2"}],
        ]
    }
    assert "reply_markup" not in render(text()).params


def test_a_press_says_who_pressed_what_where():
    message = normalize(press(), "main", BOT)
    assert isinstance(message, InboundMessage)
    assert (message.action, message.text, message.message_id) == ("abc", "", "9")
    assert (message.sender.id, message.sender.name) == ("501", "Ann")
    assert (message.address.chat_id, message.chat_kind) == ("501", ChatKind.DIRECT)
    assert message.addressed
    assert press_id(press()) == "4242"


def test_a_press_in_a_topic_is_in_that_topic():
    asked = ASKED | {"chat": FORUM, "message_thread_id": 40, "is_topic_message": True}
    message = normalize(press(message=asked), "main", BOT)
    assert isinstance(message, InboundMessage)
    assert message.address == Address("telegram", "main", "-1002000", "40")
    assert origin(press(message=asked), "main").chat_id == "-1002000"


def test_two_presses_have_two_keys_and_a_redelivery_has_the_same():
    keys = [normalize(press(id=query), "main", BOT).dedupe_key for query in ("1", "2", "1")]
    assert keys[0] == keys[2] != keys[1]


@pytest.mark.parametrize(
    "query", [{"message": None}, {"data": None}, {"message": ASKED | {"chat": {"id": -1, "type": "channel"}}}]
)
def test_a_press_of_nothing_of_ours_is_ignored(query):
    assert isinstance(normalize(press(**query), "main", BOT), Ignored)


def test_a_press_of_an_old_message_that_lost_its_content_still_counts():
    message = normalize(press(message={"message_id": 9, "date": 0, "chat": PRIVATE}), "main", BOT)
    assert isinstance(message, InboundMessage)


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=80),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    ),
    st.sampled_from(["id", "from", "message", "data", "chat_instance"]),
)
def test_whatever_a_server_puts_into_a_press_is_read_or_refused(value, field):
    raw = press(**{field: value})
    press_id(raw)
    origin(raw, "main")
    try:
        normalize(raw, "main", BOT)
    except MalformedUpdateError:
        return


async def test_a_press_reaches_the_inbox_and_the_button_stops_spinning(tg, channel, inbox, listening):
    ann = tg.user(501, "Ann")
    tg.private_chat(ann)
    await channel.send(text(("a1", "One")))
    async with listening(channel):
        query = tg.press(tg.sent[0], "One", ann)
        (message,) = await inbox.wait_for(1)
        await tg.wait_for(lambda: query not in tg.presses)
    assert message.action == "a1"
    assert message.message_id == str(tg.sent[0].message_id)


@pytest.mark.parametrize("fault", [Hang(), Refuse(400, "Bad Request: query is too old"), Refuse(500, "x")])
async def test_a_press_counts_also_when_it_cannot_be_acknowledged(tg, channel, inbox, listening, fault):
    ann = tg.user(501, "Ann")
    tg.private_chat(ann)
    await channel.send(text(("a1", "One")))
    tg.faults.add("answerCallbackQuery", fault)
    async with listening(channel):
        tg.press(tg.sent[0], "One", ann)
        tg.say(tg.private_chat(ann), ann, "and a message")
        messages = await inbox.wait_for(2)
        await tg.wait_until_heard()
    assert [message.action for message in messages] == ["a1", None]
    assert not [task for task in asyncio.all_tasks() if "answer_press" in repr(task.get_coro())]


async def test_a_press_that_could_not_be_stored_is_delivered_again(tg, channel, inbox, listening):
    ann = tg.user(501, "Ann")
    tg.private_chat(ann)
    await channel.send(text(("a1", "One")))
    inbox.failures = 3
    async with listening(channel):
        tg.press(tg.sent[0], "One", ann)
        (message,) = await inbox.wait_for(1)
    assert message.action == "a1"
    assert len(set(inbox.deliveries)) == 1


@pytest.mark.parametrize(("id_", "label"), [("x" * 65, "One"), ("", "One"), ("a", " ")])
async def test_the_emulated_telegram_refuses_what_telegram_would(tg, channel, id_, label):
    tg.private_chat(tg.user(501, "Ann"))
    with pytest.raises(PermanentSendError):
        await channel.send(text((id_, label)))


async def test_the_emulated_telegram_keeps_presses_from_who_does_not_ask_for_them(tg, channel):
    ann = tg.user(501, "Ann")
    tg.private_chat(ann)
    tg.allowed_updates = ["message"]
    await channel.send(text(("a1", "One")))
    tg.press(tg.sent[0], "One", ann)
    assert tg.updates == []
