"""Whose conversation a message belongs to, whom it is for, and how it reads."""

import logging
import time

import pytest

from channels.messages import ChatKind, OutboundMessage, OutboundText
from tests.emulators.slack import Hang, Refuse, bad_gateway, missing_scope, too_many


async def test_a_direct_chat_is_one_conversation_except_where_a_person_opens_a_thread(
    slack, ann, channel, inbox, listening
):
    home = slack.dm(ann)
    async with listening(channel):
        top = slack.say(home, ann, "top")
        slack.say(home, ann, "next")
        slack.say(home, ann, "in a thread", thread_ts=top["ts"])
        await inbox.wait_for(3)

    assert [message.address.platform_thread for message in inbox.messages] == [None, None, top["ts"]]
    assert all(message.addressed for message in inbox.messages)


@pytest.mark.parametrize("kind", ["public", "private", "mpim"])
async def test_in_a_channel_each_message_outside_a_thread_opens_one(
    kind, slack, ann, channel, inbox, listening
):
    place = (
        slack.group_dm(ann, slack.user("Bo"))
        if kind == "mpim"
        else slack.channel("ops", private=kind == "private")
    )
    async with listening(channel):
        top = slack.say(place, ann, f"{slack.at} question")
        slack.say(place, ann, "among ourselves")
        slack.say(place, ann, "more on it", thread_ts=top["ts"])
        await inbox.wait_for(3)
        await slack.wait_until_heard()

    asked, other, more = sorted(inbox.messages, key=lambda message: message.message_id)
    assert asked.address.platform_thread == top["ts"]
    assert other.address.platform_thread == other.message_id
    assert more.address.platform_thread == top["ts"]
    assert more.reply_to == top["ts"]
    assert [message.addressed for message in (asked, other, more)] == [True, False, False]
    assert all(message.chat_kind is ChatKind.GROUP for message in inbox.messages)


async def test_in_a_thread_that_we_wrote_in_replies_are_for_us(slack, ann, build, inbox, listening):
    ops = slack.channel("ops")
    channel = build()
    async with listening(channel):
        top = slack.say(ops, ann, f"{slack.at} question")
        (asked,) = await inbox.wait_for(1)
        await channel.send(OutboundMessage(asked.address, "k", OutboundText("answer")))
        slack.say(ops, ann, "and then?", thread_ts=top["ts"])
        await inbox.wait_for(2)
    assert slack.count("conversations.replies") == 0

    # Another process does not remember, and has to ask: once.
    async with listening(build()):
        slack.say(ops, ann, "still there?", thread_ts=top["ts"])
        slack.say(ops, ann, "hello?", thread_ts=top["ts"])
        await inbox.wait_for(4)

    assert [message.addressed for message in inbox.messages] == [True] * 4
    assert slack.count("conversations.replies") == 1


async def test_a_reply_to_our_own_message_is_for_us_without_asking(slack, ann, channel, inbox, listening):
    ops = slack.channel("ops")
    digest = slack.keep(ops, {"user": slack.bot.id, "bot_id": slack.bot.bot_id, "text": "Digest"})
    async with listening(channel):
        slack.say(ops, ann, "more about the second", thread_ts=digest["ts"])
        (reply,) = await inbox.wait_for(1)

    assert reply.addressed
    assert slack.count("conversations.replies") == 0


async def test_a_thread_of_others_is_asked_about_once_a_minute(
    slack, ann, channel, inbox, listening, seconds
):
    ops = slack.channel("ops")
    async with listening(channel):
        top = slack.say(ops, ann, "among ourselves")
        for _ in range(3):
            slack.say(ops, ann, "yes", thread_ts=top["ts"])
        await inbox.wait_for(4)
        assert slack.count("conversations.replies") == 1
        seconds.now += 61
        slack.say(ops, ann, "no", thread_ts=top["ts"])
        await inbox.wait_for(5)

    assert slack.count("conversations.replies") == 2
    assert not any(message.addressed for message in inbox.messages)


@pytest.mark.parametrize("fault", [bad_gateway(), too_many(1), Refuse("internal_error"), Hang()], ids=repr)
async def test_a_thread_that_cannot_be_looked_up_now_is_delivered_again(
    fault, slack, ann, channel, inbox, listening
):
    slack.deliveries.ack_seconds = 2
    slack.deliveries.retry_seconds = (0.05, 0.05, 0.05)
    ops = slack.channel("ops")
    top = slack.keep(ops, {"user": ann.id, "text": "top"})
    slack.keep(ops, {"user": slack.bot.id, "text": "ours", "thread_ts": top["ts"]})
    slack.faults.add("conversations.replies", fault)
    async with listening(channel):
        slack.say(ops, ann, "for you", thread_ts=top["ts"])
        (message,) = await inbox.wait_for(1)

    assert message.addressed
    assert slack.deliveries.envelopes[0].tries >= 2


async def test_without_a_scope_threads_are_none_of_ours_and_the_log_says_so_once(
    slack, ann, channel, inbox, listening, caplog
):
    caplog.set_level(logging.WARNING)
    ops = slack.channel("ops")
    slack.faults.add("conversations.replies", missing_scope("channels:history"), None)
    slack.faults.add("users.info", missing_scope("users:read"), None)
    async with listening(channel):
        for number in range(3):
            top = slack.say(ops, ann, f"top {number}")
            slack.say(ops, ann, "reply", thread_ts=top["ts"])
        await inbox.wait_for(6)

    assert not any(message.addressed for message in inbox.messages)
    assert [message.sender.name for message in inbox.messages] == [""] * 6
    assert sum("channels:history" in line for line in caplog.messages) == 1
    assert sum("users:read" in line for line in caplog.messages) == 1


async def test_names_that_are_slow_to_come_hold_nothing_up(slack, ann, channel, inbox, listening):
    slack.faults.add("users.info", Hang(), None)
    async with listening(channel):
        started = time.monotonic()
        for number in range(5):
            slack.say(slack.dm(ann), ann, f"{number}")
        await inbox.wait_for(5)

    assert time.monotonic() - started < 2.5
    assert all(envelope.tries == 1 for envelope in slack.deliveries.envelopes)


async def test_mentions_links_and_entities_arrive_as_a_person_reads_them(
    slack, ann, channel, inbox, listening
):
    bo = slack.user("Bo Öz")
    text = (
        f"{slack.at}, ask <@{bo.id}> in <#C07OPS|ops> about <https://hart.example/a?b=1&amp;c=2|the page> "
        "&lt;b&gt; &amp;amp; <mailto:bo@hart.example|bo@hart.example> <!here> <!subteam^S1|@oncall>"
    )
    async with listening(channel):
        slack.say(slack.channel("ops"), ann, text)
        (message,) = await inbox.wait_for(1)

    assert message.text == (
        "ask @Bo Öz in #ops about the page (https://hart.example/a?b=1&c=2) "
        "<b> &amp; bo@hart.example @here @oncall"
    )


async def test_a_mention_added_by_an_edit_is_heard(slack, ann, channel, inbox, listening):
    ops = slack.channel("ops")
    async with listening(channel):
        written = slack.say(slack.channel("elsewhere", joined=False), ann, "not heard")
        slack.messages[ops.id][written["ts"]] = written
        slack.edit(ops, written, f"{slack.at} now heard")
        (message,) = await inbox.wait_for(1)
        await slack.wait_until_heard()

    assert message.text == "now heard"
    assert message.addressed


async def test_files_come_as_attachments_with_the_text_of_their_message(
    slack, ann, channel, inbox, listening
):
    home = slack.dm(ann)
    async with listening(channel):
        file = slack.send_file(
            home, ann, "Prüfung 検査.pdf", b"%PDF", text="Read this", mime="application/pdf"
        )
        slack.send_file(home, ann, "voice.m4a", b"sound", mime="audio/mp4")
        slack.say(home, ann, "old", files=[slack.store_file("old.txt", b"", mode="tombstone")])
        document, voice, old = await inbox.wait_for(3)

    (attached,) = document.attachments
    assert document.text == "Read this"
    assert (attached.name, attached.size, attached.mime) == ("Prüfung 検査.pdf", 4, "application/pdf")
    assert attached.ref == file.id
    assert voice.text == ""
    assert voice.attachments[0].name == "voice.m4a"
    assert old.attachments == ()
