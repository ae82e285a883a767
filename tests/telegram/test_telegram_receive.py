"""What people write is stored before Telegram is told to forget it, whatever happens in between."""

import asyncio

import pytest

from channels.errors import ChannelRefusedError
from channels.messages import OutboundMessage, OutboundText
from tests.emulators.telegram import DropBefore, RawAnswer, Refuse, bad_gateway

DEEP = b'{"update_id": %ID%, "message": ' + b"[" * 50_000 + b"]" * 50_000 + b"}"
HUGE_NUMBER = b'{"update_id": %ID%, "message": {"message_id": ' + b"9" * 5000 + b"}}"


def offsets(tg):
    return [int(call.params.get("offset", 0)) for call in tg.calls if call.method == "getUpdates"]


async def test_the_offset_moves_only_once_the_message_is_stored(tg, channel, inbox, listening):
    ann = tg.user(501, "Ann")
    gate, reached = asyncio.Event(), asyncio.Event()

    async def before():
        reached.set()
        await gate.wait()

    inbox.before = before
    tg.say(tg.private_chat(ann), ann, "one")
    async with listening(channel):
        await reached.wait()
        assert len(tg.updates) == 1
        assert offsets(tg) == [0]
        gate.set()
        await tg.wait_until_heard()

    assert inbox.texts == ["one"]


async def test_a_full_disk_holds_messages_back_and_keeps_their_order(tg, channel, inbox, pauses, listening):
    ann = tg.user(501, "Ann")
    inbox.failures = 8
    for text in ("one", "two", "three"):
        tg.say(tg.private_chat(ann), ann, text)
    async with listening(channel):
        await tg.wait_until_heard()

    assert inbox.texts == ["one", "two", "three"]
    assert pauses == [1, 2, 4, 8, 16, 30, 30, 30]


@pytest.mark.parametrize("poison", [DEEP, HUGE_NUMBER], ids=["deep", "number"])
async def test_an_update_that_breaks_the_json_of_its_batch_is_skipped(poison, tg, channel, inbox, listening):
    ann = tg.user(501, "Ann")
    chat = tg.private_chat(ann)
    tg.say(chat, ann, "before")
    poison_id = tg.push_raw(poison)
    tg.say(chat, ann, "after")
    async with listening(channel):
        await inbox.wait_for(2)
        await tg.wait_until_heard()

    assert inbox.texts == ["before", "after"]
    assert [row.dedupe_key for row in inbox.rejected] == [f"telegram:main:unreadable:{poison_id}"]
    assert len(inbox.rejected[0].raw) <= 100_000


async def test_only_shapeless_updates_do_not_make_the_loop_race(tg, channel, inbox, pauses, listening):
    tg.push_raw("no id", stamp=False)
    async with listening(channel):
        await tg.wait_for(lambda: len(pauses) >= 4)

    assert pauses[:4] == [1, 2, 4, 8]
    assert len(inbox.rows) == 1


async def test_a_megabyte_of_text_arrives_whole(tg, channel, inbox, listening):
    ann = tg.user(501, "Ann")
    text = "a 😀 b " * 180_000
    tg.say(tg.private_chat(ann), ann, text, entities=[{"type": "bold", "offset": 0, "length": 10**6}])
    async with listening(channel):
        await inbox.wait_for(1)

    assert inbox.texts == [text.strip()]


@pytest.mark.parametrize(
    "fault",
    [
        DropBefore(),
        bad_gateway(),
        bad_gateway(500),
        bad_gateway(404),
        RawAnswer(b"<html>captive portal</html>"),
        RawAnswer(b'{"ok":true}'),
        RawAnswer(b'{"ok":true,"result":{"update_id":1}}'),
        RawAnswer(b'{"ok":true,"result":[{"update_id":1},'),
        RawAnswer(b"\xff\xfe\x00"),
        Refuse(409, "Conflict: terminated by other getUpdates request"),
        Refuse(400, "Bad Request: something new"),
    ],
    ids=repr,
)
async def test_a_passing_fault_loses_nothing(fault, tg, channel, inbox, pauses, listening):
    ann = tg.user(501, "Ann")
    tg.faults.add("getUpdates", fault, 2)
    tg.say(tg.private_chat(ann), ann, "still here")
    async with listening(channel):
        await inbox.wait_for(1)

    assert inbox.texts == ["still here"]
    assert inbox.rejected == []
    assert pauses == [1, 2]


async def test_two_pollers_each_survive_the_other(tg, build, inbox, pauses, listening):
    ann = tg.user(501, "Ann")
    first, second = build(), build()
    async with listening(first):
        async with listening(second):
            await tg.wait_for(lambda: len(pauses) >= 2)
        tg.say(tg.private_chat(ann), ann, "hi")
        await inbox.wait_for(1)
        await tg.wait_until_heard()

    assert inbox.texts == ["hi"]


async def test_a_forgotten_webhook_is_removed_and_its_messages_are_kept(tg, channel, inbox, listening):
    ann = tg.user(501, "Ann")
    tg.webhook = "https://hart.example/hook"
    tg.say(tg.private_chat(ann), ann, "waited for the webhook")
    async with listening(channel):
        await inbox.wait_for(1)

    assert tg.webhook == ""


async def test_a_token_taken_away_during_a_poll_ends_receiving(tg, channel, inbox):
    task = asyncio.create_task(channel.receive(inbox))
    await tg.wait_for(lambda: tg.count("getUpdates") == 1)
    tg.revoke()
    with pytest.raises(ChannelRefusedError, match="token of account 'main'"):
        await asyncio.wait_for(task, 5)


@pytest.mark.parametrize("token", ["7100200300:wrong", "no colon", "1:a/../b", "1:\n"])
async def test_a_wrong_token_is_refused_at_the_check(token, tg, build):
    with pytest.raises(ChannelRefusedError):
        await build(token=token).check()


async def test_a_good_token_passes_the_check(channel):
    await channel.check()


async def test_files_of_people_come_as_attachments(tg, channel, inbox, listening):
    ann = tg.user(501, "Ann")
    chat = tg.private_chat(ann)
    tg.send_document(chat, ann, "Prüfung 検査.pdf", b"%PDF", mime="application/pdf", caption="Read this")
    tg.send_photo(chat, ann, b"jpeg" * 100)
    tg.send_document(chat, ann, None, b"opus", kind="voice", mime="audio/ogg")
    async with listening(channel):
        document, photo, voice = await inbox.wait_for(3)

    assert document.text == "Read this"
    assert document.attachments[0].name == "Prüfung 検査.pdf"
    assert document.attachments[0].size == 4
    assert document.attachments[0].mime == "application/pdf"
    assert photo.attachments[0].name == f"photo-{photo.message_id}.jpg"
    assert voice.attachments[0].name == f"voice-{voice.message_id}.ogg"


async def test_in_a_group_mentions_replies_and_commands_are_for_us(tg, channel, inbox, listening):
    ann = tg.user(501, "Ann")
    group = tg.group("Ops")
    async with listening(channel):
        tg.say(group, ann, "talking to each other")
        (heard,) = await inbox.wait_for(1)
        ours = await channel.send(OutboundMessage(heard.address, "k1", OutboundText("At your service")))
        tg.say(group, ann, "👋🏽 @Hart_Team_Bot what is up?")
        tg.say(group, ann, "thanks", reply_to=int(ours.message_id))
        tg.say(group, ann, "not you", reply_to=int(heard.message_id))
        tg.say(group, ann, "/status@hart_team_bot now")
        tg.say(group, ann, "/status")
        tg.say(group, ann, "/status@another_bot now")
        tg.say(group, ann, "me@hart_team_bot.example is a mail address")
        await inbox.wait_for(7)
        await tg.wait_until_heard()

    assert [(message.text, message.addressed) for message in inbox.messages] == [
        ("talking to each other", False),
        ("👋🏽 what is up?", True),
        ("thanks", True),
        ("not you", False),
        ("/status now", True),
        ("/status", True),
        ("me@hart_team_bot.example is a mail address", False),
    ]


async def test_forum_topics_are_told_apart_and_answered_in_place(tg, channel, inbox, listening):
    ann = tg.user(501, "Ann")
    forum = tg.group("Forum", forum=True)
    topic = tg.topic(forum, "Releases")
    async with listening(channel):
        tg.say(forum, ann, "in General")
        tg.say(forum, ann, "in a topic", thread=topic)
        general, in_topic = await inbox.wait_for(2)
    for message in (general, in_topic):
        await channel.send(OutboundMessage(message.address, "k", OutboundText("answer")))

    assert general.address.platform_thread == "1"
    assert in_topic.address.platform_thread == str(topic)
    assert not in_topic.addressed, "the notice of a topic's creation by us is not a message to reply to"
    assert in_topic.reply_to is None
    assert [sent.thread for sent in tg.sent] == [None, topic]
