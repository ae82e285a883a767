"""Whatever happens to connections and tokens, what people write arrives."""

import asyncio
import gc
import time

import psutil
import pytest

from channels.errors import ChannelRefusedError
from tests.emulators.slack import DropBefore, RawAnswer, Refuse, bad_gateway, missing_scope, too_many


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
