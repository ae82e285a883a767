"""The real alarm clock: it rings on time, sweeps, and leaves nothing behind."""

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from scheduler.alarm import Alarm, TaskTrigger
from scheduler.dispatcher import TaskDispatcher
from scheduler.models import Task
from scheduler.schedule import Interval, parse_cron
from tests.scheduler.sqlite_ledger import SqliteLedger

ZONE = ZoneInfo("UTC")
LONG = timedelta(hours=1)


def real_now() -> datetime:
    return datetime.now(UTC)


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(500):
        if condition():
            return
        await asyncio.sleep(0.02)
    pytest.fail("It did not happen within ten seconds.")


async def test_an_interval_of_a_second_rings_at_every_second(tmp_path: Path) -> None:
    begun = real_now()
    task = Task("beat", Interval(timedelta(seconds=1), begun), ZONE)
    ledger = SqliteLedger(tmp_path / "ledger.sqlite", [task])
    ledger.first_seen("beat", begun)
    nodes = [TaskDispatcher(ledger, real_now, sweep_every=LONG) for _ in range(2)]
    for node in nodes:
        await node.start()
    await until(lambda: len(ledger.fires("beat")) >= 3)
    for node in nodes:
        await node.stop()
    beats = [(at - begun.replace(microsecond=0)) / timedelta(seconds=1) for at, _ in ledger.fires("beat")]
    assert beats[0] >= 1
    # On a stalled machine one fire may stand for two, but none comes off the beat or twice.
    assert all(beat.is_integer() for beat in beats)
    assert len(set(beats)) == len(beats)


async def test_the_sweep_serves_what_no_alarm_rang_for(tmp_path: Path) -> None:
    at = datetime(2026, 11, 2, tzinfo=UTC)
    task = Task("yearly", parse_cron("@yearly"), ZONE)
    ledger = SqliteLedger(tmp_path / "ledger.sqlite", [task])
    ledger.first_seen("yearly", at)
    moments = [at]
    dispatcher = TaskDispatcher(ledger, lambda: moments[-1], sweep_every=timedelta(milliseconds=50))
    await dispatcher.start()
    assert ledger.fires("yearly") == []
    moments.append(datetime(2027, 1, 1, 0, 0, 5, tzinfo=UTC))
    await until(lambda: ledger.fires("yearly") == [(datetime(2027, 1, 1, tzinfo=UTC), 0)])
    await dispatcher.stop()


async def test_a_start_serves_what_became_due_while_down(tmp_path: Path) -> None:
    at = datetime(2026, 11, 2, tzinfo=UTC)
    ledger = SqliteLedger(tmp_path / "ledger.sqlite", [Task("daily", parse_cron("@daily"), ZONE)])
    ledger.first_seen("daily", at)
    dispatcher = TaskDispatcher(ledger, lambda: at + timedelta(days=2, hours=1), sweep_every=LONG)
    await dispatcher.start()
    await dispatcher.stop()
    assert ledger.fires("daily") == [(at + timedelta(days=2), 1)]


async def test_a_stop_leaves_no_task_and_no_timer_after_twenty_starts(tmp_path: Path) -> None:
    tasks = [Task(f"t{n}", Interval(timedelta(seconds=1), real_now()), ZONE) for n in range(3)]
    ledger = SqliteLedger(tmp_path / "ledger.sqlite", tasks)
    before = asyncio.all_tasks()
    dispatcher = TaskDispatcher(ledger, real_now, sweep_every=timedelta(milliseconds=20))
    for _ in range(20):
        await dispatcher.start()
        await dispatcher.start()
        await asyncio.sleep(0.01)
        await dispatcher.stop()
        await dispatcher.stop()
        assert asyncio.all_tasks() == before
    timers = [handle for handle in asyncio.get_running_loop()._scheduled if not handle.cancelled()]
    assert [handle for handle in timers if "apscheduler" in repr(handle)] == []


async def test_a_stop_waits_for_the_callback_under_way() -> None:
    begun, finished = asyncio.Event(), asyncio.Event()

    async def sweep() -> None:
        begun.set()
        await asyncio.sleep(0.2)
        finished.set()

    alarm = Alarm(ring=lambda name: sweep(), sweep=sweep, every=timedelta(milliseconds=10))
    alarm.start()
    await asyncio.wait_for(begun.wait(), 5)
    await alarm.stop()
    assert finished.is_set()


async def test_a_name_that_is_put_again_rings_for_its_new_schedule_alone() -> None:
    rung: list[str] = []

    async def ring(name: str) -> None:
        rung.append(name)

    async def sweep() -> None: ...

    alarm = Alarm(ring, sweep, LONG)
    alarm.start()
    for _ in range(20):
        alarm.put(Task("a", Interval(timedelta(seconds=1), real_now()), ZONE))
    alarm.put(Task("b", Interval(timedelta(seconds=1), real_now()), ZONE))
    alarm.put(Task("b", parse_cron("0 0 29 2 *"), ZONE))
    alarm.put(Task("c", Interval(timedelta(seconds=1), real_now()), ZONE))
    alarm.keep_only({"a", "b"})
    await until(lambda: len(rung) >= 2)
    await alarm.stop()
    assert set(rung) == {"a"}
    assert len(rung) == 2


async def test_a_callback_that_fails_rings_again(caplog: pytest.LogCaptureFixture) -> None:
    rung: list[str] = []

    async def ring(name: str) -> None:
        rung.append(name)
        raise RuntimeError("no luck")

    async def sweep() -> None: ...

    alarm = Alarm(ring, sweep, LONG)
    alarm.start()
    alarm.put(Task("a", Interval(timedelta(seconds=1), real_now()), ZONE))
    with caplog.at_level(logging.ERROR):
        await until(lambda: len(rung) >= 2)
        await alarm.stop()
    assert "no luck" in caplog.text


def test_moments_slept_through_ring_once() -> None:
    begun = datetime(2026, 11, 2, tzinfo=UTC)
    trigger = TaskTrigger(Task("beat", Interval(timedelta(seconds=1), begun), ZONE))
    woken = begun + timedelta(hours=8, milliseconds=300)
    assert trigger.get_next_fire_time(begun, woken) == begun + timedelta(hours=8, seconds=1)
    assert trigger.get_next_fire_time(None, begun) == begun + timedelta(seconds=1)


def test_an_alarm_rings_when_the_jitter_of_an_occurrence_has_passed() -> None:
    begun = datetime(2026, 11, 2, tzinfo=UTC)
    task = Task("beat", Interval(timedelta(hours=1), begun), ZONE, jitter=timedelta(minutes=30))
    trigger = TaskTrigger(task)
    rung = [begun]
    while len(rung) < 25:
        rung.append(trigger.get_next_fire_time(rung[-1], rung[-1]) or begun)
    hours = [begun + timedelta(hours=hour) for hour in range(25)]
    delays = [late - hour for late, hour in zip(rung[1:], hours, strict=False)]
    assert all(timedelta(0) <= one <= timedelta(minutes=30) for one in delays)
    assert len(set(delays)) > 10
