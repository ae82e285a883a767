"""The platform may forget a message once it is stored, and not before; whatever comes again is known."""

import asyncio

from tests.contract.bench import Bench
from tests.contract.benches import everywhere


async def forever() -> None:
    """What storing does on a disk that hangs."""
    await asyncio.Event().wait()


@everywhere
async def test_a_message_is_acknowledged_once_it_is_stored_and_not_before(bench: Bench) -> None:
    gate, reached = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        reached.set()
        await gate.wait()

    bench.hurry()
    bench.inbox.before = hold
    async with bench.listening(bench.build()):
        bench.say(bench.direct(), "one")
        await reached.wait()
        await bench.outwait()
        assert not bench.is_acked()
        gate.set()
        await bench.wait_until_heard()

    assert bench.inbox.texts == ["one"]


@everywhere
async def test_what_cannot_be_stored_comes_again_until_it_can(bench: Bench) -> None:
    bench.hurry()
    bench.inbox.failures = 3
    async with bench.listening(bench.build()):
        bench.say(bench.direct(), "one")
        await bench.wait_until_heard()

    assert bench.inbox.texts == ["one"]
    assert len(bench.inbox.deliveries) >= 4


@everywhere
async def test_a_crash_before_a_message_is_stored_loses_nothing(bench: Bench) -> None:
    reached = asyncio.Event()

    async def die() -> None:
        reached.set()
        await forever()

    bench.hurry()
    bench.inbox.before = die
    async with bench.listening(bench.build()):
        bench.say(bench.direct(), "one")
        await reached.wait()
    assert bench.inbox.texts == []
    assert not bench.is_acked()

    bench.inbox.before = bench.inbox.after
    async with bench.listening(bench.build()):
        await bench.wait_until_heard()

    assert bench.inbox.texts == ["one"]


@everywhere
async def test_a_crash_after_a_message_is_stored_doubles_nothing(bench: Bench) -> None:
    stored = asyncio.Event()

    async def die() -> None:
        stored.set()
        await forever()

    bench.hurry()
    bench.inbox.after = die
    async with bench.listening(bench.build()):
        bench.say(bench.direct(), "one")
        await stored.wait()
    assert not bench.is_acked()

    bench.inbox.after = bench.inbox.before
    async with bench.listening(bench.build()):
        await bench.wait_until_heard()

    assert bench.inbox.texts == ["one"]
    assert len(bench.inbox.deliveries) >= 2
    assert len(set(bench.inbox.deliveries)) == 1


@everywhere
async def test_an_acknowledgement_lost_three_times_makes_one_message(bench: Bench) -> None:
    bench.hurry()
    bench.lose_acks(3)
    async with bench.listening(bench.build()):
        bench.say(bench.direct(), "once")
        await bench.wait_until_heard()

    assert len(bench.inbox.deliveries) >= 4
    assert set(bench.inbox.deliveries) == {bench.inbox.messages[0].dedupe_key}


@everywhere
async def test_a_message_delivered_again_is_one_and_its_twin_another(bench: Bench) -> None:
    async with bench.listening(bench.build()):
        bench.say(bench.direct(), "again")
        bench.say(bench.direct(), "again")
        await bench.wait_until_heard()
        for _ in range(2):
            bench.deliver_again()
            await bench.wait_until_heard()

    assert bench.inbox.texts == ["again", "again"]
    assert len(bench.inbox.deliveries) >= 6
