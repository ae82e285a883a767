"""What people write is stored before Feishu is told to forget it, whatever happens in between."""

import asyncio
import json

import pytest

from channels.feishu.transport import Timing
from channels.messages import Address, Button, ChatKind, OutboundMessage, OutboundText
from tests.emulators.feishu import DropBefore, Hang, RawAnswer, Refuse, Slow, bad_gateway, too_many

BUSY = Refuse(1, "system busy", 200)
INTERNAL = Refuse(1000040343, "internal error", 200)
NO_CREDENTIAL = Refuse(1000040344, "no credential", 200)
TOO_MANY_CONNECTIONS = Refuse(1000040350, "the number of connections exceeded the limit", 200)
FORBIDDEN = Refuse(403, "forbidden", 200)


@pytest.mark.parametrize("backwards", [False, True])
async def test_an_event_in_many_frames_is_put_together_in_any_order(
    backwards, fs, chat, ann, channel, inbox, listening
):
    fs.parts, fs.parts_reversed = 7, backwards
    text = "grüße 世界 😀 " * 500
    async with listening(channel):
        fs.say(chat, ann, text)
        await fs.wait_until_heard()

    assert inbox.texts == [text.strip()]
    assert fs.deliveries[0].codes == [200]


async def test_an_event_of_which_a_frame_is_missing_is_delivered_again(
    fs, chat, ann, channel, inbox, listening
):
    fs.parts, fs.missing_part, fs.ack_seconds = 3, 1, 0.2
    async with listening(channel):
        fs.say(chat, ann, "whole in the end")
        await fs.wait_for(lambda: fs.deliveries[0].codes == [0])
        fs.missing_part = None
        await fs.wait_until_heard()

    assert inbox.texts == ["whole in the end"]


async def test_frames_that_are_none_do_no_harm(fs, chat, ann, channel, inbox, listening):
    async with listening(channel):
        for data in (b"", b"\x00", b"\xff" * 100, b"\x08\x01", b"\x2a\x05\x0a\xff\xff\xff\x0f"):
            await fs.send_bytes(data)
        fs.say(chat, ann, "still here")
        await fs.wait_until_heard()

    assert inbox.texts == ["still here"]
    assert fs.opened == 1


async def press_a_button(fs, where, channel, inbox, user):
    button = OutboundText("**Sure?**", (Button("id-1", "Yes"), Button("id-2", "No")))
    receipt = await channel.send(OutboundMessage(where, "k", button))
    return receipt.message_id, fs.press(receipt.message_id, user, "No")


async def test_a_press_is_stored_and_answered_with_nothing_to_show(fs, chat, ann, channel, inbox, listening):
    here = Address("feishu", "main", chat.id)
    async with listening(channel):
        card, used = await press_a_button(fs, here, channel, inbox, ann)
        (message,) = await inbox.wait_for(1)
        await fs.wait_for(lambda: used.acked)

    assert used.answer == {}
    assert (message.action, message.message_id, message.sender.id) == ("id-2", card, ann.open_id)
    assert (message.address, message.chat_kind) == (here, ChatKind.DIRECT)


async def test_a_press_in_a_thread_of_a_group_is_answered_there(fs, ann, channel, inbox, listening):
    group = fs.group("Ops")
    root = fs.say(group, ann, "begin", push=False)
    there = Address("feishu", "main", group.id, root.id)
    async with listening(channel):
        await press_a_button(fs, there, channel, inbox, ann)
        (message,) = await inbox.wait_for(1)

    assert (message.address, message.chat_kind) == (there, ChatKind.GROUP)


async def test_a_chat_we_may_not_see_counts_as_a_group(fs, chat, ann, channel, inbox, listening):
    fs.faults.add("get_chat", Refuse(99991672, "Access denied."))
    async with listening(channel):
        await press_a_button(fs, Address("feishu", "main", chat.id), channel, inbox, ann)
        (message,) = await inbox.wait_for(1)

    assert message.chat_kind is ChatKind.GROUP


async def test_a_press_that_cannot_be_stored_fails_before_the_eyes_of_the_person(
    fs, chat, ann, channel, inbox, listening
):
    inbox.failures = 1
    async with listening(channel):
        _, used = await press_a_button(fs, Address("feishu", "main", chat.id), channel, inbox, ann)
        await fs.wait_for(lambda: used.lost)

    assert used.codes == [500]


async def test_a_press_is_answered_in_time_even_while_storing_takes_long(
    fs, chat, ann, channel, inbox, listening
):
    gate = asyncio.Event()
    inbox.before = gate.wait
    async with listening(channel):
        fs.say(chat, ann, "slow to store")
        _, used = await press_a_button(fs, Address("feishu", "main", chat.id), channel, inbox, ann)
        await fs.wait_for(lambda: used.acked)
        assert used.answer == {}
        assert inbox.rows == {}
        gate.set()
        await inbox.wait_for(2)


@pytest.mark.parametrize(
    ("method", "fault"),
    [
        (method, fault)
        for method in ("token", "bot_info", "endpoint")
        for fault in (
            DropBefore(),
            bad_gateway(),
            bad_gateway(404),
            RawAnswer(b"<html>captive portal</html>"),
            RawAnswer(b'{"code":0}'),
            RawAnswer(b'{"code":0,"data":{"URL":"http://127.0.0.1/"}}'),
            RawAnswer(b"\xff\xfe\x00"),
            too_many(3),
            BUSY,
        )
        # A GET whose connection breaks is repeated by the HTTP client itself.
        if not (method == "bot_info" and fault == DropBefore())
    ]
    + [("endpoint", fault) for fault in (INTERNAL, NO_CREDENTIAL, TOO_MANY_CONNECTIONS, FORBIDDEN)],
    ids=repr,
)
async def test_no_fault_of_connecting_is_for_ever(
    method, fault, fs, chat, ann, channel, inbox, pauses, listening
):
    fs.faults.add(method, fault, 2)
    fs.say(chat, ann, "still here")
    async with listening(channel):
        await inbox.wait_for(1)

    assert inbox.texts == ["still here"]
    assert pauses == ([3, 3] if fault == too_many(3) else [1, 2])


@pytest.mark.parametrize("fault", [NO_CREDENTIAL, TOO_MANY_CONNECTIONS, FORBIDDEN, BUSY], ids=repr)
async def test_a_fatal_code_on_reconnecting_does_not_make_the_bot_deaf(
    fault, fs, chat, ann, channel, inbox, listening
):
    async with listening(channel):
        fs.say(chat, ann, "before")
        await inbox.wait_for(1)
        fs.faults.add("endpoint", fault, 3)
        fs.kill()
        fs.say(chat, ann, "during")
        await inbox.wait_for(2)

    assert inbox.texts == ["before", "during"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Handshake-Status": "514", "Handshake-Msg": "auth failed", "Handshake-Autherrcode": "1000040350"},
        {"Handshake-Status": "403", "Handshake-Msg": "forbidden"},
        {"Handshake-Status": "?"},
        {},
    ],
)
async def test_a_refused_handshake_is_tried_again(headers, fs, chat, ann, channel, inbox, pauses, listening):
    fs.handshake_refusal = headers
    async with listening(channel, connected=False):
        await fs.wait_for(lambda: len(pauses) >= 3)
        fs.handshake_refusal = None
        await fs.wait_until_connected()
        fs.say(chat, ann, "hi")
        await inbox.wait_for(1)

    assert pauses[:3] == [1, 2, 4]


async def test_an_endpoint_that_never_answers_is_given_up(fs, chat, ann, build, inbox, listening):
    fs.faults.add("endpoint", Hang())
    fs.faults.add("token", Hang())
    async with listening(build(response_seconds=0.3)):
        fs.say(chat, ann, "hi")
        await inbox.wait_for(1)

    assert inbox.texts == ["hi"]


async def test_a_slow_but_living_connection_is_kept(fs, chat, ann, build, inbox, listening):
    async with listening(build(timing=Timing(ping=0.02, pong=2.0))):
        fs.ping_interval = 1
        await asyncio.sleep(0.5)
        fs.say(chat, ann, "hi")
        await inbox.wait_for(1)

    assert fs.opened == 1


async def test_the_platforms_own_ping_is_sent_as_often_as_it_asks(fs, build, listening):
    now = [0.0]
    fs.ping_interval = 60
    async with listening(build(timing=Timing(ping=0.01), monotonic=lambda: now[0])):
        await fs.wait_for(lambda: fs.pings == 1)
        await asyncio.sleep(0.1)
        assert fs.pings == 1
        now[0] = 61.0
        await fs.wait_for(lambda: fs.pings == 2)


async def test_pongs_without_events_are_noticed_where_configured(fs, chat, ann, build, inbox, listening):
    now = [0.0]
    fs.mute, fs.ack_seconds = True, 0.2
    channel = build(timing=Timing(ping=0.02, silence=600.0), monotonic=lambda: now[0])
    async with listening(channel):
        await fs.wait_for(lambda: fs.pings == 1)
        fs.say(chat, ann, "unheard at first")
        now[0] = 599.0
        await asyncio.sleep(0.1)
        assert fs.opened == 1
        fs.mute = False
        now[0] = 601.0
        await fs.wait_until_connected(2)
        await inbox.wait_for(1)


async def test_silence_alone_is_no_fault_by_default(fs, build, listening):
    now = [0.0]
    async with listening(build(timing=Timing(ping=0.02), monotonic=lambda: now[0])):
        now[0] = 1e6
        await asyncio.sleep(0.15)

    assert fs.opened == 1


async def test_an_expired_token_does_not_matter_to_the_connection(fs, chat, ann, channel, inbox, listening):
    async with listening(channel):
        fs.expire_tokens()
        fs.kill()
        await fs.wait_until_connected(2)
        fs.say(chat, ann, "hi")
        await inbox.wait_for(1)


async def test_two_nodes_share_the_events_of_one_app(fs, chat, ann, build, inbox, listening):
    fs.spread = True
    async with listening(build()), listening(build()):
        for number in range(20):
            fs.say(chat, ann, f"m{number}")
        await fs.wait_until_heard()

    assert len(inbox.texts) == 20
    assert len(inbox.deliveries) == 20


async def test_cancelling_ends_at_once_and_says_good_bye(fs, channel, inbox):
    before = asyncio.all_tasks()
    task = asyncio.create_task(channel.receive(inbox))
    await fs.wait_until_connected()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 2)
    await fs.wait_for(lambda: not fs.connections, 2)

    # What is left serves the connections that the channel keeps for its next call.
    left = asyncio.all_tasks() - before - fs.delivering()
    assert {one.get_coro().__qualname__ for one in left} <= {"RequestHandler.start"}


async def test_cancelling_ends_every_stage_of_connecting(fs, build, inbox):
    for method in ("token", "bot_info", "endpoint"):
        fs.faults.add(method, Hang())
        channel = build()
        task = asyncio.create_task(channel.receive(inbox))
        await fs.wait_for(lambda name=method: fs.count(name) > 0)
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 2)
        fs.faults.clear()
        fs.calls.clear()


async def test_a_question_that_takes_too_long_has_the_event_delivered_again(
    fs, ann, channel, inbox, listening
):
    group = fs.group("Ops")
    ours = fs.post(group, None, "text", {"text": "from before a restart"})
    fs.faults.add("get_message", Slow(2.3))
    async with listening(channel):
        fs.say(group, ann, "an answer", reply_to=ours.id)
        await fs.wait_until_heard()

    assert fs.deliveries[0].codes == [500, 200]
    assert [(message.text, message.addressed) for message in inbox.messages] == [("an answer", True)]


async def test_a_wrong_number_in_a_frame_is_not_believed(fs, chat, ann, channel, inbox, listening):
    async with listening(channel):
        fs.push_raw(json.dumps({"header": {"event_type": "x" * 10_000}}).encode())
        fs.say(chat, ann, "hi")
        await fs.wait_until_heard()

    assert inbox.texts == ["hi"]
