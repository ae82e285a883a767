"""Buttons below messages, and presses of them."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.errors import PermanentSendError, TransientSendError
from channels.messages import Address, Button, ChatKind, InboundMessage, OutboundText
from channels.slack.intake import PRESS_SECONDS
from channels.slack.normalize import (
    BotIdentity,
    Ignored,
    MalformedEventError,
    normalize_press,
    origin,
    read_press,
)
from channels.slack.render import BUTTONS_IN_BLOCK, LABEL_LIMIT
from tests.emulators.slack import Refuse, too_many
from tests.slack.asking import asking

BOT = BotIdentity("U0HART", "B0HART", "T0HART")
ASKED = "1796000000.000100"


def press(**payload):
    full = {
        "type": "block_actions",
        "user": {"id": "U0ANN", "username": "ann", "name": "ann"},
        "container": {"type": "message", "channel_id": "C0OPS", "message_ts": ASKED},
        "message": {"ts": ASKED, "bot_id": "B0HART"},
        "actions": [{"type": "button", "action_id": "hart-1", "value": "b2"}],
        "trigger_id": "1.2.abc",
        "response_url": "https://hooks.slack.com/actions/T0/1/secretpath",
    }
    return {**full, **payload}


def pressed(**payload):
    return normalize_press(read_press(press(**payload)), "main", BOT)


def test_a_press_says_who_pressed_what_where():
    message = pressed()
    assert isinstance(message, InboundMessage)
    assert (message.action, message.text, message.message_id) == ("b2", "", ASKED)
    assert (message.sender.id, message.sender.name, message.sender.is_bot) == ("U0ANN", "ann", False)
    assert (message.address, message.chat_kind) == (Address("slack", "main", "C0OPS"), ChatKind.GROUP)
    assert message.addressed
    assert pressed(container={"channel_id": "D0ANN", "message_ts": ASKED}).chat_kind is ChatKind.DIRECT
    assert origin(press(), "main").chat_id == "C0OPS"


def test_a_press_in_a_thread_is_in_that_thread_and_one_on_its_first_message_is_not():
    thread = "1796000000.000001"
    for payload in (
        {"container": {"channel_id": "C0OPS", "message_ts": ASKED, "thread_ts": thread}},
        {"message": {"ts": ASKED, "bot_id": "B0HART", "thread_ts": thread}},
    ):
        assert pressed(**payload).address.platform_thread == thread
    assert pressed(message={"ts": ASKED, "thread_ts": ASKED}).address.platform_thread is None


def test_two_presses_have_two_keys_and_a_replayed_request_has_the_same():
    keys = [pressed(trigger_id=name).dedupe_key for name in ("1", "2", "1")]
    assert keys[0] == keys[2] != keys[1]


@pytest.mark.parametrize(
    "payload",
    [
        {"message": {"ts": ASKED, "bot_id": "B0OTHER"}},
        {"actions": [{"action_id": "hart-0"}]},
        {"actions": [{"action_id": "approve", "value": "a1"}]},
    ],
)
def test_a_press_of_nothing_of_ours_is_ignored(payload):
    assert isinstance(pressed(**payload), Ignored)


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=80),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    ),
    st.sampled_from(["user", "container", "message", "actions", "trigger_id"]),
)
def test_whatever_a_server_puts_into_a_press_is_read_or_refused(value, field):
    raw = press(**{field: value})
    origin(raw, "main")
    try:
        normalize_press(read_press(raw), "main", BOT)
    except MalformedEventError:
        return


async def test_buttons_stand_below_the_text_and_a_press_reaches_the_inbox(
    slack, ann, channel, inbox, listening
):
    ops = slack.channel("ops")
    root = slack.say(ops, ann, "look")
    await channel.send(asking(ops, root["ts"]))
    (sent,) = slack.sent
    async with listening(channel):
        envelope = slack.press(sent, "Two", ann)
        (message,) = [one for one in await inbox.wait_for(1) if one.action]
        await slack.wait_until_heard()

    assert (sent.text, [label for label, _, _ in sent.buttons]) == ("Which?", ["One", "Two"])
    assert (message.action, message.message_id) == ("b2", sent.ts)
    assert message.address == Address("slack", "main", ops.id, root["ts"])
    assert envelope.acked
    assert envelope.answer is None
    assert "secretpath" not in repr(message)


async def test_buttons_that_nobody_knows_are_confirmed_and_ignored(slack, ann, channel, inbox, listening):
    await channel.send(asking(slack.dm(ann)))
    async with listening(channel):
        envelope = slack.press_data(slack.sent[0], "approve", "1", ann)
        await slack.wait_until_heard()

    assert envelope.acked
    assert inbox.rows == {}


async def test_a_press_that_cannot_be_read_is_set_aside_without_its_secrets(
    slack, ann, channel, inbox, listening
):
    await channel.send(asking(slack.dm(ann)))
    async with listening(channel):
        envelope = slack.press_data(slack.sent[0], "hart-0", "a1", ann, trigger_id="")
        await slack.wait_until_heard()

    assert envelope.acked
    assert len(inbox.rows) == 1
    assert "secretpath" not in str(inbox.rows)


async def test_a_press_that_cannot_be_stored_fails_for_the_person(slack, ann, channel, inbox, listening):
    slack.deliveries.ack_seconds = 0.2
    await channel.send(asking(slack.dm(ann)))
    inbox.failures = 1
    async with listening(channel):
        refused = slack.press(slack.sent[0], "One", ann)
        await slack.wait_until_heard()
        again = slack.press(slack.sent[0], "One", ann)
        await slack.wait_until_heard()

    assert (refused.acked, again.acked) == (False, True)
    assert [message.action for message in inbox.messages] == ["a1"]


async def test_a_press_is_confirmed_in_time_however_long_storing_takes_and_is_stored_all_the_same(
    slack, ann, channel, inbox, listening, monkeypatch
):
    assert slack.deliveries.ack_seconds > PRESS_SECONDS
    monkeypatch.setattr("channels.slack.intake.PRESS_SECONDS", 0.01)
    await channel.send(asking(slack.dm(ann)))
    gate = asyncio.Event()
    inbox.before = gate.wait
    async with listening(channel):
        envelope = slack.press(slack.sent[0], "One", ann)
        await slack.wait_for(lambda: envelope.settled)
        before = list(inbox.messages)
        gate.set()

    assert (envelope.acked, before) == (True, [])
    assert [message.action for message in inbox.messages] == ["a1"]


async def test_a_press_does_not_wait_for_messages_of_its_channel(slack, ann, channel, inbox, listening):
    await channel.send(asking(slack.dm(ann)))
    held, storing = asyncio.Event(), asyncio.Event()

    async def hold():
        storing.set()
        inbox.before = at_once
        await held.wait()

    async def at_once():
        return

    inbox.before = hold
    async with listening(channel):
        slack.say(slack.dm(ann), ann, "first")
        await storing.wait()
        envelope = slack.press(slack.sent[0], "One", ann)
        await slack.wait_for(lambda: envelope.settled)
        held.set()
        await slack.wait_until_heard()

    assert [(message.action, message.text) for message in inbox.messages] == [("a1", ""), (None, "first")]


async def test_a_long_text_and_many_long_labels_fit(slack, ann, channel):
    many = tuple(Button(f"id{number}", "x" * 200) for number in range(BUTTONS_IN_BLOCK + 3))
    text = channel.split("<" * 7_000)[0]
    await channel.send(replace(asking(slack.dm(ann)), content=OutboundText(text, many)))
    assert len(slack.sent[0].buttons) == len(many)
    assert {len(label) for label, _, _ in slack.sent[0].buttons} == {LABEL_LIMIT}


async def test_buttons_that_slack_refuses_do_not_keep_the_text_back(slack, ann, channel):
    slack.faults.add("chat.postMessage", Refuse("invalid_blocks"))
    await channel.send(asking(slack.dm(ann)))
    assert [(sent.text, sent.buttons) for sent in slack.sent] == [("Which?", ())]


@pytest.mark.parametrize(
    ("fault", "error"),
    [(Refuse("channel_not_found"), PermanentSendError), (too_many(3), TransientSendError)],
)
async def test_other_refusals_of_a_message_with_buttons_are_told(slack, ann, channel, fault, error):
    slack.faults.add("chat.postMessage", fault)
    with pytest.raises(error):
        await channel.send(asking(slack.dm(ann)))
    assert slack.sent == []


@pytest.mark.parametrize("label", ["", "x" * 76])
async def test_the_emulated_slack_refuses_what_slack_would(slack, ann, channel, label, monkeypatch):
    monkeypatch.setattr("channels.slack.render.LABEL_LIMIT", 100)
    await channel.send(asking(slack.dm(ann), buttons=(Button("a1", label),)))
    assert slack.count("chat.postMessage") == 2
    assert slack.sent[0].buttons == ()
