"""Whatever happens to connections and tokens, what people write arrives."""

import asyncio

import pytest

from channels.errors import ChannelRefusedError
from tests.emulators.slack import DropBefore, RawAnswer, Refuse, bad_gateway, missing_scope


@pytest.mark.parametrize("reason", ["warning", "too_many_websockets"])
async def test_slack_may_ask_for_another_connection_at_any_time(
    reason, slack, ann, channel, inbox, listening
):
    slack.deliveries.ack_seconds = 0.3
    slack.deliveries.retry_seconds = (0.1, 1.0, 3.0)
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


async def test_a_connection_that_slack_closes_is_replaced(slack, ann, build, inbox, listening):
    slack.deliveries.ack_seconds = 0.3
    slack.deliveries.retry_seconds = (0.1, 1.0, 3.0)
    async with listening(build(ping_seconds=0.3)):
        slack.say(slack.dm(ann), ann, "before")
        await inbox.wait_for(1)
        await slack.close_sockets()
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


async def test_connections_that_end_at_once_do_not_make_the_loop_race(slack, channel, pauses, listening):
    slack.faults.add("link", RawAnswer(b"", 503), None)
    async with listening(channel, connected=False):
        await slack.wait_for(lambda: len(pauses) >= 6)

    assert pauses[:6] == [1, 2, 4, 8, 16, 30]


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
