"""Whatever happens to the connection, what people write arrives, and the platform is not pestered."""

import asyncio

import pytest

from tests.contract.bench import PlatformBench, until
from tests.contract.benches import connected


@pytest.mark.parametrize("how", ["cut", "hang_up", "silence"])
@connected
async def test_what_is_written_around_the_end_of_a_connection_arrives(bench: PlatformBench, how: str) -> None:
    bench.hurry()
    home = bench.direct()
    async with bench.listening(bench.make_watchful()):
        bench.say(home, "before")
        await bench.inbox.wait_for(1)
        await getattr(bench, how)()
        for number in range(5):
            bench.say(home, f"{number}")
        await bench.inbox.wait_for(6)
        await bench.wait_until_heard()
        await until(lambda: bench.listeners() == 1)

    assert sorted(bench.inbox.texts) == [*(f"{number}" for number in range(5)), "before"]


@pytest.mark.parametrize("how", ["cut", "silence"])
@connected
async def test_a_connection_may_end_while_a_message_is_being_stored(bench: PlatformBench, how: str) -> None:
    gate, reached = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        reached.set()
        await gate.wait()

    bench.hurry()
    bench.inbox.before = hold
    async with bench.listening(bench.make_watchful()):
        bench.say(bench.direct(), "one")
        await reached.wait()
        await getattr(bench, how)()
        gate.set()
        bench.say(bench.direct(), "two")
        await bench.wait_until_heard()

    assert sorted(bench.inbox.texts) == ["one", "two"]


@connected
async def test_what_is_written_during_an_outage_arrives_after_it(bench: PlatformBench) -> None:
    bench.hurry()
    home = bench.direct()
    async with bench.listening(bench.build()):
        bench.say(home, "before")
        await bench.inbox.wait_for(1)
        async with bench.offline():
            for number in range(20):
                bench.say(home, f"{number}")
            await until(lambda: len(bench.pauses) >= 3)
        bench.say(home, "then")
        await bench.inbox.wait_for(22)
        await bench.wait_until_heard()

    assert sorted(bench.inbox.texts) == sorted(["before", *(f"{number}" for number in range(20)), "then"])


@connected
async def test_a_channel_can_start_while_the_platform_is_away(bench: PlatformBench) -> None:
    channel = bench.build()
    async with bench.offline():
        await channel.check()
        listening = bench.listening(channel, connected=False)
        await listening.__aenter__()
        bench.say(bench.direct(), "early")
        await until(lambda: len(bench.pauses) >= 2)
    await bench.inbox.wait_for(1)
    await listening.__aexit__(None, None, None)

    assert bench.inbox.texts == ["early"]


@connected
async def test_a_lasting_fault_is_asked_about_ever_more_slowly(bench: PlatformBench) -> None:
    bench.refuse_listening()
    async with bench.listening(bench.build(), connected=False):
        await until(lambda: len(bench.pauses) >= 9)

    assert bench.pauses[:5] == [1, 2, 4, 8, 16]
    assert bench.pauses[7:9] in ([30, 30], [60, 60])


@connected
async def test_a_rate_limit_on_listening_is_kept_to_the_second(bench: PlatformBench) -> None:
    bench.limit_listening(17)
    async with bench.listening(bench.build()):
        bench.say(bench.direct(), "hi")
        await bench.inbox.wait_for(1)

    assert bench.pauses == [17]
