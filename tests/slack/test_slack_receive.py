"""What people write is stored before Slack is told so, whatever happens in between."""

import asyncio

from channels.messages import ChatKind


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
    slack.deliveries.ack_seconds = 0.5
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
    slack.deliveries.ack_seconds = 0.5
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
