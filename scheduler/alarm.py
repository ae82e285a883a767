"""The alarm clock of one node: APScheduler, told by our schedules when to ring."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from apscheduler.jobstores.memory import MemoryJobStore
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.interval import IntervalTrigger

from scheduler.jitter import delay
from scheduler.models import Task
from scheduler.schedule import next_fires

LOOKED_AT = 200
"""How many occurrences are looked at for the next one to begin, of a task with jitter."""

STOP_GRACE = 5.0
"""Seconds that callbacks under way get to finish at a stop, before they are cancelled."""


class TaskTrigger(BaseTrigger):
    """Rings when a task is due. Moments slept through ring once; lateness is not decided here."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None:
        """The first moment after both the present and the latest ring; None when there is none."""
        after = max(previous_fire_time, now) if previous_fire_time else now
        task = self._task
        # One that was due before may still wait for its jitter to pass.
        fires = next_fires(task.schedule, task.zone, after - task.jitter, LOOKED_AT if task.jitter else 1)
        begins = (fire + delay(task.name, fire, task.jitter) for fire in fires)
        return min((begin for begin in begins if begin > after), default=None)


class Alarm:
    """Rings for named schedules and sweeps at a fixed pace. Lives on the running event loop.

    Args:
        ring: Called with a name when its schedule fires.
        sweep: Called every ``every``.
        every: The pace of the sweep.
    """

    def __init__(
        self,
        ring: Callable[[str], Awaitable[object]],
        sweep: Callable[[], Awaitable[object]],
        every: timedelta,
    ) -> None:
        self._ring = ring
        self._sweep = sweep
        self._every = every
        self._clock: AsyncIOScheduler | None = None
        self._set: dict[str, Task] = {}
        self._under_way: set[asyncio.Task[object]] = set()

    @property
    def running(self) -> bool:
        """Whether the alarm has been started and not stopped."""
        return self._clock is not None

    def start(self) -> None:
        """Start to sweep; a second call changes nothing."""
        if self._clock is not None:
            return
        self._clock = AsyncIOScheduler(
            jobstores={"default": MemoryJobStore()},
            # Without a grace APScheduler drops what is a second late; the ledger decides on lateness.
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
            timezone=UTC,
        )
        self._clock.add_job(
            self._own, IntervalTrigger(seconds=self._every.total_seconds(), timezone=UTC), args=(self._sweep,)
        )
        self._clock.start()

    def put(self, task: Task) -> None:
        """Ring for this task from now on, instead of any earlier form of it."""
        if self._clock is None or self._set.get(task.name) == task:
            return
        self._clock.add_job(
            self._own,
            TaskTrigger(task),
            args=(self._ring, task.name),
            id=_job_id(task.name),
            replace_existing=True,
        )
        self._set[task.name] = task

    def keep_only(self, names: set[str]) -> None:
        """Ring no more for any other name."""
        if self._clock is None:
            return
        for name in self._set.keys() - names:
            if self._clock.get_job(_job_id(name)) is not None:
                self._clock.remove_job(_job_id(name))
            del self._set[name]

    async def stop(self) -> None:
        """Ring no more; wait for callbacks under way. Leaves no task and no timer."""
        clock, self._clock = self._clock, None
        if clock is None:
            return
        self._set.clear()
        clock.pause()
        # A ring that was handed to the loop before the pause has not begun yet: let it be counted.
        await asyncio.sleep(0)
        others = self._under_way - {asyncio.current_task()}
        if others:
            _, slow = await asyncio.wait(others, timeout=STOP_GRACE)
            for task in slow:
                task.cancel()
            await asyncio.gather(*slow, return_exceptions=True)
        clock.shutdown(wait=False)
        # The shutdown itself is a callback of the loop.
        await asyncio.sleep(0)

    async def _own(self, act: Callable[..., Awaitable[object]], *args: object) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._under_way.add(task)
        try:
            await act(*args)
        finally:
            self._under_way.discard(task)


def _job_id(name: str) -> str:
    return f"task:{name}"
