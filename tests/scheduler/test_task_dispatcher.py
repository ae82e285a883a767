"""One fire per occurrence, whatever happens to nodes, clocks and the store."""

import asyncio
import logging
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from scheduler.dispatcher import TaskDispatcher
from scheduler.hours import parse_hours
from scheduler.jitter import delay
from scheduler.models import Misfire, Overlap, Task
from scheduler.plan import Fire
from scheduler.schedule import Interval, Schedule, parse_cron
from tests.scheduler.sqlite_ledger import SqliteLedger

BERLIN = ZoneInfo("Europe/Berlin")
# A Monday, 07:00 in Berlin.
START = datetime(2026, 11, 2, 6, 0, tzinfo=UTC)


class HandClock:
    """Shows what it was set to."""

    def __init__(self, at: datetime = START) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def make_task(name: str = "digest", schedule: Schedule | None = None, **rules: Any) -> Task:
    return Task(name, schedule or parse_cron("0 8 * * 1-5"), BERLIN, **rules)


def make_ledger(path: Path, *tasks: Task, node: str = "node") -> SqliteLedger:
    ledger = SqliteLedger(path, tasks, node)
    for task in tasks:
        ledger.first_seen(task.name, START)
    return ledger


async def test_a_task_fires_once_when_its_time_has_come(path: Path, clock: HandClock) -> None:
    ledger = make_ledger(path, make_task())
    dispatcher = TaskDispatcher(ledger, clock)
    made = []
    for minutes in (0, 59, 60, 61, 119):
        clock.at = START + timedelta(minutes=minutes)
        made.append(await dispatcher.tick())
    assert made == [0, 0, 1, 0, 0]
    assert ledger.fires("digest") == [(datetime(2026, 11, 2, 7, 0, tzinfo=UTC), 0)]


async def test_weekdays_at_eight_stay_at_eight_by_the_wall_clock(path: Path, clock: HandClock) -> None:
    clock.at = datetime(2026, 10, 22, tzinfo=UTC)
    ledger = SqliteLedger(path, [make_task()])
    ledger.first_seen("digest", clock.at)
    dispatcher = TaskDispatcher(ledger, clock)
    for _ in range(24 * 6):
        clock.at += timedelta(hours=1)
        await dispatcher.tick()
    assert [f"{at:%a %H}" for at, _ in ledger.fires("digest")] == ["Thu 06", "Fri 06", "Mon 07", "Tue 07"]


async def test_three_days_down_make_one_fire_that_says_how_many_it_stands_for(
    path: Path, clock: HandClock
) -> None:
    ledger = make_ledger(path, make_task())
    clock.at = START + timedelta(days=3)
    await TaskDispatcher(ledger, clock).tick()
    assert ledger.fires("digest") == [(datetime(2026, 11, 4, 7, 0, tzinfo=UTC), 2)]


async def test_nothing_fires_for_the_time_before_a_task_was_first_seen(path: Path, clock: HandClock) -> None:
    ledger = make_ledger(path, make_task(schedule=parse_cron("0 6 * * *")))
    assert await TaskDispatcher(ledger, clock).tick() == 0


async def test_a_task_without_a_start_point_waits(path: Path, clock: HandClock) -> None:
    ledger = SqliteLedger(path, [make_task()])
    clock.at = START + timedelta(days=1)
    assert await TaskDispatcher(ledger, clock).tick() == 0


async def test_a_disabled_task_does_not_fire(path: Path, clock: HandClock) -> None:
    ledger = make_ledger(path, make_task(enabled=False))
    clock.at = START + timedelta(days=1)
    assert await TaskDispatcher(ledger, clock).tick() == 0


async def test_a_clock_that_goes_back_fires_nothing_again(path: Path, clock: HandClock) -> None:
    ledger = make_ledger(path, make_task())
    dispatcher = TaskDispatcher(ledger, clock)
    for hours in (1.5, 0.5, 1.0, 1.5):
        clock.at = START + timedelta(hours=hours)
        await dispatcher.tick()
    assert len(ledger.fires("digest")) == 1


async def test_many_nodes_that_tick_at_once_make_each_fire_once(path: Path, clock: HandClock) -> None:
    task = make_task(schedule=Interval(timedelta(minutes=10), START))
    ledgers = [make_ledger(path, task, node=f"node-{n}") for n in range(4)]
    nodes = [TaskDispatcher(ledger, clock) for ledger in ledgers]
    made = 0
    for _ in range(12):
        clock.at += timedelta(minutes=5)
        made += sum(await asyncio.gather(*(node.tick() for node in nodes for _ in range(2))))
    expected = [(START + timedelta(minutes=10 * n), 0) for n in range(1, 7)]
    assert ledgers[0].fires("digest") == expected
    assert made == len(expected)


async def test_a_task_that_cannot_be_served_does_not_stop_the_others(
    path: Path, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = make_ledger(path, make_task("broken"), make_task("sound"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON fire WHEN new.task = 'broken' "
            "BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
    clock.at = START + timedelta(hours=2)
    assert await TaskDispatcher(ledger, clock).tick() == 1
    assert len(ledger.fires("sound")) == 1
    assert [record.levelno for record in caplog.records if "'broken'" in record.getMessage()] == [
        logging.ERROR
    ]


async def test_a_store_that_was_away_is_served_at_the_next_tick(
    path: Path, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = make_ledger(path, make_task())
    dispatcher = TaskDispatcher(ledger, clock)
    clock.at = START + timedelta(hours=2)
    away = path.with_suffix(".away")
    os.rename(path, away)
    assert await dispatcher.tick() == 0
    assert "could not be read" in caplog.text
    os.replace(away, path)
    assert await dispatcher.tick() == 1


async def test_a_changed_or_removed_task_needs_no_restart(path: Path, clock: HandClock) -> None:
    ledger = make_ledger(path, make_task("kept"), make_task("gone"))
    dispatcher = TaskDispatcher(ledger, clock)
    await dispatcher.start()
    ledger.known = [replace(make_task("kept"), schedule=parse_cron("0 9 * * *"))]
    for hours in (1, 2):
        clock.at = START + timedelta(hours=hours)
        await dispatcher.tick()
    await dispatcher.stop()
    assert [f"{at:%H}" for at, _ in ledger.fires("kept")] == ["08"]
    assert ledger.fires("gone") == []


async def test_a_run_by_hand_leaves_the_schedule_as_it_was(path: Path, clock: HandClock) -> None:
    ledger = make_ledger(path, make_task(schedule=Interval(timedelta(hours=1), START)))
    dispatcher = TaskDispatcher(ledger, clock)
    clock.at = START + timedelta(minutes=90)
    assert await dispatcher.run_now("digest")
    clock.at = START + timedelta(minutes=120)
    await dispatcher.tick()
    assert [(at - START, left_out) for at, left_out in ledger.fires("digest")] == [
        (timedelta(minutes=90, microseconds=1), 0),
        (timedelta(minutes=120), 1),
    ]


async def test_a_run_by_hand_on_the_very_minute_is_a_run_of_its_own(path: Path, clock: HandClock) -> None:
    ledger = make_ledger(path, make_task())
    clock.at = START + timedelta(hours=1)
    dispatcher = TaskDispatcher(ledger, clock)
    assert await dispatcher.run_now("digest")
    assert await dispatcher.run_now("digest")
    await dispatcher.tick()
    fires = [(at - clock.at) / timedelta(microseconds=1) for at, _ in ledger.fires("digest")]
    assert fires == [0, 1, 2]


async def test_a_disabled_task_can_be_run_by_hand_and_an_unknown_one_cannot(
    path: Path, clock: HandClock
) -> None:
    ledger = make_ledger(path, make_task(enabled=False))
    dispatcher = TaskDispatcher(ledger, clock)
    clock.at = START + timedelta(days=1, microseconds=7)
    assert await dispatcher.run_now("digest")
    assert ledger.fires("digest") == [(clock.at, 0)]
    assert not await dispatcher.run_now("other")


async def test_a_failure_of_a_run_by_hand_is_told_to_who_asked(path: Path, clock: HandClock) -> None:
    ledger = make_ledger(path, make_task())
    os.unlink(path)
    with pytest.raises(sqlite3.OperationalError):
        await TaskDispatcher(ledger, clock).run_now("digest")


async def test_what_was_missed_is_skipped_and_recorded_where_that_is_the_policy(
    path: Path, clock: HandClock
) -> None:
    ledger = make_ledger(path, make_task(misfire=Misfire.SKIP))
    dispatcher = TaskDispatcher(ledger, clock)
    clock.at = START + timedelta(days=3)
    await dispatcher.tick()
    clock.at = START + timedelta(days=3, hours=1, seconds=40)
    await dispatcher.tick()
    assert ledger.skips("digest") == ["missed by 23 hours", None]
    assert [left_out for _, left_out in ledger.fires("digest")] == [2, 0]


@pytest.mark.parametrize(
    ("overlap", "skips", "cancels"),
    [
        (Overlap.SKIP, ["the run before was still going on"] * 3 + [None], 0),
        (Overlap.QUEUE, [None], 0),
        (Overlap.CANCEL_PREVIOUS, [None] * 4, 3),
    ],
)
async def test_occurrences_while_a_run_goes_on_follow_the_policy(
    path: Path, clock: HandClock, overlap: Overlap, skips: list[str | None], cancels: int
) -> None:
    task = make_task(schedule=Interval(timedelta(hours=1), START), overlap=overlap)
    ledger = RememberingLedger(path, [task])
    ledger.first_seen("digest", START)
    ledger.busy.add("digest")
    dispatcher = TaskDispatcher(ledger, clock)
    for _ in range(3):
        clock.at += timedelta(hours=1)
        await dispatcher.tick()
    ledger.busy.clear()
    clock.at += timedelta(minutes=1) if overlap is Overlap.QUEUE else timedelta(hours=1)
    await dispatcher.tick()
    assert ledger.skips("digest") == skips
    assert sum(fire.cancel_previous for fire in ledger.made) == cancels
    assert sum(left_out + 1 for _, left_out in ledger.fires("digest")) >= 3


async def test_a_task_runs_in_its_active_hours_alone(path: Path, clock: HandClock) -> None:
    hours = parse_hours("22:00-06:00")
    ledger = make_ledger(path, make_task(schedule=Interval(timedelta(hours=1), START), hours=hours))
    dispatcher = TaskDispatcher(ledger, clock)
    for _ in range(24):
        clock.at += timedelta(hours=1)
        await dispatcher.tick()
    ran = [
        at.astimezone(BERLIN).hour
        for (at, _), skipped in zip(ledger.fires("digest"), ledger.skips("digest"), strict=True)
        if skipped is None
    ]
    assert ran == [22, 23, 0, 1, 2, 3, 4, 5]


async def test_an_occurrence_with_jitter_fires_later_and_once(path: Path, clock: HandClock) -> None:
    jitter = timedelta(minutes=20)
    ledger = make_ledger(path, make_task(jitter=jitter))
    dispatcher = TaskDispatcher(ledger, clock)
    eight = START + timedelta(hours=1)
    late = delay("digest", eight, jitter)
    assert timedelta(0) < late < jitter
    made = []
    for moment in (eight + late - timedelta(seconds=1), eight + late, eight + jitter, eight + 2 * jitter):
        clock.at = moment
        made.append(await dispatcher.tick())
    assert made == [0, 1, 0, 0]
    assert ledger.fires("digest") == [(eight, 0)]


class RememberingLedger(SqliteLedger):
    """Keeps what it was asked to fire."""

    def __init__(self, path: Path, tasks: Sequence[Task]) -> None:
        super().__init__(path, tasks)
        self.made: list[Fire] = []

    async def fire(self, task: Task, fire: Fire) -> bool:
        self.made.append(fire)
        return await super().fire(task, fire)
