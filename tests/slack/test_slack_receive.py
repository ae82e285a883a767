"""What people write is stored before Slack is told so, whatever happens in between."""

import asyncio
import gc
import logging
import time

import psutil
import pytest

from channels.errors import ChannelRefusedError
from channels.messages import ChatKind, OutboundMessage, OutboundText
from tests.emulators.slack import DropBefore, Hang, RawAnswer, Refuse, bad_gateway, missing_scope, too_many


async def test_a_direct_message_reaches_the_inbox(slack, ann, channel, inbox, listening):
    async with listening(channel):
        written = slack.say(slack.dm(ann), ann, "Good morning")
        (message,) = await inbox.wait_for(1)
        await slack.wait_until_heard()

    assert message.text == "Good morning"
    assert message.address.chat_id == slack.dm(ann).id
    assert message.address.platform_thread is None
    assert message.sender.id == ann.id
    assert message.sender.name == "Ann Lee"
    assert message.message_id == written["ts"]
    assert message.chat_kind is ChatKind.DIRECT
    assert message.addressed


async def test_a_message_is_confirmed_only_once_it_is_stored(slack, ann, channel, inbox, listening):
    gate, reached = asyncio.Event(), asyncio.Event()

    async def before():
        reached.set()
        await gate.wait()

    inbox.before = before
    async with listening(channel):
        slack.say(slack.dm(ann), ann, "one")
        await reached.wait()
        await asyncio.sleep(0.05)
        assert not slack.deliveries.envelopes[0].acked
        gate.set()
        await slack.wait_until_heard()

    assert slack.deliveries.envelopes[0].acked
    assert inbox.texts == ["one"]


async def test_a_message_whose_confirmation_is_lost_three_times_is_kept_once(
    slack, ann, channel, inbox, listening
):
    slack.deliveries.ack_seconds = 0.1
    slack.deliveries.retry_seconds = (0.0, 0.05, 0.1)
    slack.deliveries.ignored_acks = 3
    async with listening(channel):
        slack.say(slack.dm(ann), ann, "one")
        await slack.wait_until_heard()

    assert slack.deliveries.envelopes[0].tries == 4
    assert slack.deliveries.envelopes[0].acked
    assert inbox.texts == ["one"]
    assert len(inbox.deliveries) == 4


async def test_a_mention_that_arrives_as_message_and_as_app_mention_is_one_message(
    slack, ann, channel, inbox, listening
):
    ops = slack.channel("ops")
    async with listening(channel):
        for number in range(6):
            slack.say(ops, ann, f"{slack.at} number {number}")
        await slack.wait_until_heard()

    assert sorted(inbox.texts) == [f"number {number}" for number in range(6)]
    assert len(inbox.deliveries) == 12
    assert all(message.addressed for message in inbox.messages)


async def test_a_full_disk_leaves_messages_with_slack_until_there_is_room(
    slack, ann, channel, inbox, listening
):
    slack.deliveries.ack_seconds = 0.1
    slack.deliveries.retry_seconds = (0.0, 0.05, 0.1)
    inbox.failures = 2
    async with listening(channel):
        slack.say(slack.dm(ann), ann, "one")
        await slack.wait_until_heard()

    assert inbox.texts == ["one"]
    assert slack.deliveries.envelopes[0].acked
    assert slack.deliveries.envelopes[0].tries == 3


async def test_a_message_not_stored_before_a_crash_is_not_lost(slack, ann, build, inbox, listening):
    slack.deliveries.ack_seconds = 0.1
    slack.deliveries.retry_seconds = (0.3, 1.0, 1.0)
    reached = asyncio.Event()

    async def die():
        reached.set()
        await asyncio.Event().wait()

    inbox.before = die
    async with listening(build()):
        slack.say(slack.dm(ann), ann, "one")
        await reached.wait()
    assert inbox.texts == []

    inbox.before = inbox.after
    async with listening(build()):
        await inbox.wait_for(1)
        await slack.wait_until_heard()

    assert inbox.texts == ["one"]


async def test_messages_of_a_channel_keep_their_order_although_names_are_looked_up(
    slack, channel, inbox, listening
):
    ops = slack.channel("ops")
    people = [slack.user(f"Person {number}") for number in range(5)]
    async with listening(channel):
        for number in range(40):
            slack.say(ops, people[number % 5], f"{number}")
        await inbox.wait_for(40)

    assert inbox.texts == [str(number) for number in range(40)]


async def test_poison_is_set_aside_once_and_the_rest_goes_on(slack, ann, channel, inbox, listening):
    home = slack.dm(ann)
    good = {"type": "message", "user": ann.id, "channel": home.id, "ts": "1796000000.000100", "text": "x"}
    async with listening(channel):
        slack.push_event(good | {"ts": 17})
        slack.push_event(good | {"ts": "yesterday"})
        slack.push_event(good | {"channel": ["C1"]})
        slack.push_event(good | {"channel": "general"})
        slack.push_event(good | {"user": None})
        slack.push_event(good | {"files": [{"id": 4}]})
        slack.push_event(good | {"text": {"deep": [1]}})
        slack.push_event({"type": ["message"], "channel": home.id})
        slack.push_event("no object")
        slack.push_event([])
        slack.push("events_api", {"type": "event_callback"})
        slack.push("events_api", {})
        slack.push("events_api", "text")
        slack.push("brand_new_kind", {"x": [1]})
        slack.say(home, ann, "last")
        await inbox.wait_for(1)
        await slack.wait_until_heard()

    assert inbox.texts == ["last"]
    assert all(envelope.acked and envelope.tries == 1 for envelope in slack.deliveries.envelopes)
    assert len(inbox.rejected) >= 7
    assert inbox.rejected[0].address.chat_id == home.id
    assert all("Zq7verificationtoken" not in row.raw for row in inbox.rejected)


async def test_what_no_person_wrote_is_confirmed_and_ignored(slack, ann, channel, inbox, listening):
    home, ops = slack.dm(ann), slack.channel("ops")
    other = slack.user("Other Bot", is_bot=True)
    async with listening(channel):
        written = slack.say(home, ann, "first")
        slack.edit(home, written, "first, changed")
        slack.say(ops, other, f"{slack.at} hello, fellow bot")
        slack.say(ops, slack.bot, "an echo of ours")
        slack.say(ops, ann, "joined", subtype="channel_join")
        slack.push_event({"type": "message", "subtype": "bot_message", "channel": ops.id, "ts": "1.000001"})
        slack.push_event(
            {"type": "message", "subtype": "message_deleted", "channel": home.id, "ts": "1.000002"}
        )
        slack.push_event({"type": "reaction_added", "user": ann.id, "reaction": "eyes"})
        slack.push_event({"type": "member_joined_channel", "user": slack.bot.id, "channel": ops.id})
        slack.push_event({"type": "app_home_opened", "user": ann.id, "channel": home.id})
        slack.push_event(
            {"type": "message", "user": "USLACKBOT", "channel": home.id, "ts": "1.000003", "text": "hi"}
        )
        await slack.wait_until_heard()

    assert inbox.texts == ["first"]
    assert inbox.rejected == []
    assert all(envelope.acked for envelope in slack.deliveries.envelopes)


async def test_events_of_another_workspace_are_not_ours(slack, ann, channel, inbox, listening):
    home = slack.dm(ann)
    event = {"type": "message", "user": ann.id, "channel": home.id, "ts": "1796000000.000100", "text": "x"}
    async with listening(channel):
        slack.push_event(event, team_id="T0OTHER", authorizations=[{"team_id": "T0OTHER"}])
        slack.push_event(event | {"text": "shared channel"}, team_id="T0THEIRS")
        await slack.wait_until_heard()

    assert inbox.texts == ["shared channel"]


async def test_buttons_are_confirmed_and_ignored(slack, ann, channel, inbox, listening):
    async with listening(channel):
        pressed = slack.press(slack.channel("ops"), ann, "approve", "1")
        await slack.wait_until_heard()

    assert pressed.acked
    assert pressed.answer is None
    assert inbox.rows == {}


async def test_a_slash_command_is_a_command_and_needs_no_answer(slack, ann, channel, inbox, listening):
    ops = slack.channel("ops")
    async with listening(channel):
        first = slack.command(slack.dm(ann), ann, "/hart", "new  a fresh start")
        slack.command(ops, ann, "/hart", "")
        slack.command(ops, ann, "/hart", "/status")
        await slack.wait_until_heard()

    assert inbox.texts == ["/new  a fresh start", "/help", "/status"]
    assert first.acked
    assert first.answer is None
    assert [message.chat_kind for message in inbox.messages] == [
        ChatKind.DIRECT,
        ChatKind.GROUP,
        ChatKind.GROUP,
    ]
    assert all(message.addressed and message.sender.id == ann.id for message in inbox.messages)
    assert all("secretpath" not in repr(message) for message in inbox.messages)


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


@pytest.mark.parametrize("reason", ["refresh_requested", "warning", "too_many_websockets"])
async def test_slack_may_ask_for_another_connection_at_any_time(
    reason, slack, ann, channel, inbox, listening
):
    home = slack.dm(ann)
    async with listening(channel):
        slack.say(home, ann, "before")
        await inbox.wait_for(1)
        await slack.disconnect(reason)
        slack.say(home, ann, "during")
        await slack.wait_for(lambda: slack.opened_sockets == 2)
        slack.say(home, ann, "after")
        await inbox.wait_for(3)
        await slack.wait_for_sockets(1)

    assert sorted(inbox.texts) == ["after", "before", "during"]


async def test_the_next_connection_is_open_before_the_last_one_is_closed(
    slack, ann, channel, inbox, listening
):
    async with listening(channel):
        slack.say(slack.dm(ann), ann, "hi")
        await inbox.wait_for(1)
        await slack.disconnect("warning")
        await slack.wait_for(lambda: len(slack.sockets) == 2)
        await slack.wait_for_sockets(1)


@pytest.mark.parametrize("how", ["close", "abort", "freeze"])
async def test_a_dead_connection_is_replaced(how, slack, ann, build, inbox, listening):
    slack.deliveries.ack_seconds = 0.3
    slack.deliveries.retry_seconds = (0.1, 1.0, 3.0)
    async with listening(build(ping_seconds=0.3)):
        slack.say(slack.dm(ann), ann, "before")
        await inbox.wait_for(1)
        if how == "close":
            await slack.close_sockets()
        elif how == "abort":
            slack.abort_sockets()
        else:
            slack.freeze_sockets()
        slack.say(slack.dm(ann), ann, "after")
        await inbox.wait_for(2)
        await slack.wait_until_heard()

    assert inbox.texts == ["before", "after"]
    assert slack.opened_sockets == 2


async def test_a_connection_that_lives_but_carries_nothing_is_replaced(
    slack, ann, build, inbox, listening, seconds
):
    async with listening(build(quiet_seconds=600)):
        slack.say(slack.dm(ann), ann, "before")
        await inbox.wait_for(1)
        slack.mute_sockets()
        seconds.now += 601
        await slack.wait_for(lambda: slack.opened_sockets == 2)
        await slack.wait_for_sockets(1)
        slack.say(slack.dm(ann), ann, "after")
        await inbox.wait_for(2)

    assert inbox.texts == ["before", "after"]


@pytest.mark.parametrize("method", ["auth.test", "apps.connections.open", "link"])
@pytest.mark.parametrize(
    "fault",
    [DropBefore(), bad_gateway(), RawAnswer(b"<html>captive portal</html>"), Refuse("internal_error")],
    ids=repr,
)
async def test_a_passing_fault_at_the_start_loses_nothing(
    fault, method, slack, ann, channel, inbox, pauses, listening
):
    slack.faults.add(method, fault, 2)
    slack.say(slack.dm(ann), ann, "still here")
    async with listening(channel):
        await inbox.wait_for(1)

    assert inbox.texts == ["still here"]
    assert pauses[:2] == [1, 2]


async def test_a_rate_limit_is_obeyed(slack, channel, pauses, listening):
    slack.faults.add("apps.connections.open", too_many(23))
    async with listening(channel):
        pass

    assert pauses == [23]


async def test_a_lasting_fault_is_asked_about_ever_more_slowly(slack, channel, pauses, listening):
    slack.faults.add("apps.connections.open", bad_gateway(), None)
    async with listening(channel, connected=False):
        await slack.wait_for(lambda: len(pauses) >= 8)

    assert pauses[:8] == [1, 2, 4, 8, 16, 30, 30, 30]


async def test_connections_that_end_at_once_do_not_make_the_loop_race(slack, channel, pauses, listening):
    slack.faults.add("link", RawAnswer(b"", 503), None)
    async with listening(channel, connected=False):
        await slack.wait_for(lambda: len(pauses) >= 6)

    assert pauses[:6] == [1, 2, 4, 8, 16, 30]


async def test_what_was_written_during_an_outage_arrives_after_it(
    slack, ann, channel, inbox, pauses, listening
):
    home = slack.dm(ann)
    async with listening(channel):
        slack.say(home, ann, "before")
        await inbox.wait_for(1)
        async with slack.offline():
            for number in range(20):
                slack.say(home, ann, f"during {number}")
            await slack.wait_for(lambda: len(pauses) >= 3)
        slack.say(home, ann, "after")
        await inbox.wait_for(22)

    assert inbox.texts == ["before", *(f"during {number}" for number in range(20)), "after"]


async def test_restarting_while_messages_arrive_loses_none(slack, ann, build, inbox, listening):
    slack.deliveries.ack_seconds = 0.5
    home = slack.dm(ann)

    async def write():
        for number in range(50):
            slack.say(home, ann, f"{number}")
            await asyncio.sleep(0.02)

    writing = asyncio.create_task(write())
    while not writing.done():
        async with listening(build()):
            await asyncio.sleep(0.2)
    await writing
    async with listening(build()):
        await inbox.wait_for(50)
        await slack.wait_until_heard(20)

    assert sorted(inbox.texts, key=int) == [f"{number}" for number in range(50)]


async def test_twenty_restarts_leave_one_listener_and_nothing_behind(slack, ann, build, inbox, listening):
    process = psutil.Process()
    channel = build()
    async with listening(channel):
        pass
    await slack.wait_for_sockets(0)
    tasks, files = len(asyncio.all_tasks()), process.num_fds()
    for _ in range(20):
        async with listening(channel):
            assert len(slack.sockets) == 1
        await slack.wait_for_sockets(0)
    async with listening(channel):
        slack.say(slack.dm(ann), ann, "hi")
        await inbox.wait_for(1)
        await slack.wait_until_heard()
        assert len(slack.sockets) == 1
    await slack.wait_for_sockets(0)
    await asyncio.sleep(0.1)
    gc.collect()

    assert len(asyncio.all_tasks()) <= tasks
    assert process.num_fds() <= files + 2
    assert len(inbox.deliveries) == 1


async def test_cancelling_ends_at_once_even_with_a_frozen_connection(slack, channel, inbox):
    before = asyncio.all_tasks()
    task = asyncio.create_task(channel.receive(inbox))
    await slack.wait_for_sockets(1)
    slack.freeze_sockets()
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert time.monotonic() - started < 3
    left = {one for one in asyncio.all_tasks() - before if "tests/emulators" not in str(one.get_coro())}
    assert not any("slack" in repr(one.get_coro()) for one in left)


@pytest.mark.parametrize("token", ["bot_token", "app_token"])
async def test_a_wrong_token_is_refused_at_the_check(token, slack, build):
    with pytest.raises(ChannelRefusedError, match=token):
        await build(**{token: "xoxb-1-2-wrong"}).check()


async def test_tokens_put_in_each_others_place_are_refused_at_the_check(slack, build):
    with pytest.raises(ChannelRefusedError, match="bot_token"):
        await build(bot_token=slack.app_token, app_token=slack.bot_token).check()


async def test_an_app_token_without_its_scope_is_refused_at_the_check(slack, channel):
    slack.faults.add("apps.connections.open", missing_scope("connections:write"))
    with pytest.raises(ChannelRefusedError, match="connections:write"):
        await channel.check()


async def test_good_tokens_pass_the_check_and_open_no_connection(slack, channel):
    await channel.check()

    assert slack.opened_sockets == 0


async def test_the_check_passes_while_slack_is_away(slack, channel):
    async with slack.offline():
        await channel.check()
    slack.faults.add("auth.test", bad_gateway())
    await channel.check()


async def test_a_token_taken_away_ends_receiving(slack, channel, inbox):
    task = asyncio.create_task(channel.receive(inbox))
    await slack.wait_for_sockets(1)
    slack.revoked = {slack.app_token}
    await slack.close_sockets()
    with pytest.raises(ChannelRefusedError, match="'main' named app_token"):
        await asyncio.wait_for(task, 10)


async def test_ten_listeners_share_the_messages(slack, ann, build, inbox, listening):
    channels = [build() for _ in range(3)]
    tasks = [asyncio.create_task(channel.receive(inbox)) for channel in channels]
    await slack.wait_for_sockets(3)
    for number in range(30):
        slack.say(slack.dm(ann), ann, f"{number}")
    await inbox.wait_for(30)
    await slack.wait_until_heard()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert len(inbox.deliveries) == 30
