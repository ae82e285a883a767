"""What people write is stored before Slack is told so, whatever happens in between."""

from channels.messages import ChatKind


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


async def test_what_is_set_aside_is_kept_without_what_lets_others_act_for_us(
    slack, ann, channel, inbox, listening
):
    home = slack.dm(ann)
    async with listening(channel):
        slack.push_event({"type": "message", "user": ann.id, "channel": home.id, "ts": 17, "text": "x"})
        slack.push("events_api", {"type": "event_callback"})
        slack.push("events_api", {})
        slack.push("events_api", "text")
        slack.push("brand_new_kind", {"x": [1]})
        slack.say(home, ann, "last")
        await inbox.wait_for(1)
        await slack.wait_until_heard()

    assert inbox.texts == ["last"]
    assert all(envelope.acked and envelope.tries == 1 for envelope in slack.deliveries.envelopes)
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
