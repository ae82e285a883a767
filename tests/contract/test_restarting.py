"""A channel can be stopped and started at any time: nothing is lost, doubled or left behind."""

import asyncio
import threading
from dataclasses import dataclass

import psutil
import pytest

from tests.contract.bench import Bench, PlatformBench, until
from tests.contract.benches import connected, everywhere, heard_from_platforms


@dataclass(frozen=True, slots=True)
class Held:
    """What this process holds."""

    tasks: int
    threads: int
    files: int

    @classmethod
    def now(cls, bench: Bench) -> "Held":
        """As it is now, without the tasks of the platform."""
        tasks = asyncio.all_tasks() - bench.emulating()
        return cls(len(tasks), threading.active_count(), psutil.Process().num_fds())

    def is_within(self, other: "Held") -> bool:
        """Whether nothing of it is more."""
        return self.tasks <= other.tasks and self.threads <= other.threads and self.files <= other.files


async def start_and_stop(bench: Bench) -> None:
    """Have a new channel listen twice, and close it."""
    channel = bench.build()
    for _ in range(2):
        async with bench.listening(channel):
            assert bench.listeners() == 1
        await until(lambda: bench.listeners() == 0)
    await bench.let_go(channel)


@heard_from_platforms
async def test_twenty_restarts_leave_one_listener_and_nothing_behind(bench: PlatformBench) -> None:
    await start_and_stop(bench)
    before = Held.now(bench)
    for _ in range(20):
        await start_and_stop(bench)
    await until(lambda: Held.now(bench).is_within(before))
    async with bench.listening(bench.build()):
        bench.say(bench.direct(), "hi")
        await bench.wait_until_heard()
        assert bench.listeners() == 1

    assert bench.inbox.texts == ["hi"]
    assert len(bench.inbox.deliveries) == 1
    assert bench.pauses == []


@everywhere
async def test_restarts_while_fifty_messages_arrive_lose_none_and_double_none(bench: Bench) -> None:
    bench.hurry()
    bench.inbox.before = lambda: asyncio.sleep(0)
    home, said = bench.direct(), 0
    for stored in (1, 6, 15, 21):
        for _ in range(5):
            bench.say(home, f"{said}")
            said += 1
        async with bench.listening(bench.build()):
            for _ in range(7):
                bench.say(home, f"{said}")
                said += 1
            await bench.inbox.wait_for(stored)
    async with bench.listening(bench.build()):
        for number in range(said, 50):
            bench.say(home, f"{number}")
        await bench.inbox.wait_for(50, timeout=30)
        await bench.wait_until_heard()

    assert sorted(bench.inbox.texts, key=int) == [f"{number}" for number in range(50)]


@connected
async def test_a_stop_is_at_once_also_when_nobody_answers(bench: PlatformBench) -> None:
    async with bench.listening(bench.build()):
        await bench.silence()
    async with bench.offline(), bench.listening(bench.build(), connected=False):
        await until(lambda: bench.pauses)


@pytest.mark.parametrize("attempts", [1, 4])
@connected
async def test_a_stop_ends_a_wait_between_tries(bench: PlatformBench, attempts: int) -> None:
    reached = asyncio.Event()

    async def wait_long(seconds: float) -> None:
        bench.pauses.append(seconds)
        if len(bench.pauses) == attempts:
            reached.set()
            await asyncio.Event().wait()

    bench.refuse_listening()
    async with bench.listening(bench.build(pause=wait_long), connected=False):
        await reached.wait()

    assert len(bench.pauses) == attempts
