"""Turns time into fires: exactly one per occurrence, on any number of nodes."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from scheduler.alarm import Alarm
from scheduler.models import Task
from scheduler.plan import plan_fire
from scheduler.ports import TaskLedger

logger = logging.getLogger(__name__)

SWEEP_EVERY = timedelta(seconds=30)
"""How long a fire can be late at most when an alarm was missed or another node died."""


class TaskDispatcher:
    """Fires what is due. It holds no state that matters: the ledger says what has been served, and its
    unique row per occurrence decides between nodes.

    Args:
        ledger: Tasks and fires.
        now: The present (aware).
        sweep_every: Pace at which everything is looked over besides the alarms.
    """

    def __init__(
        self, ledger: TaskLedger, now: Callable[[], datetime], *, sweep_every: timedelta = SWEEP_EVERY
    ) -> None:
        self._ledger = ledger
        self._now = now
        self._alarm = Alarm(self._ring, self.tick, sweep_every)

    async def start(self) -> None:
        """Set the alarms and fire what became due while no node was up. An absent store is no error: the
        sweep tries again."""
        self._alarm.start()
        await self.tick()

    async def stop(self) -> None:
        """End all alarms and wait for fires under way. Safe to call twice."""
        await self._alarm.stop()

    async def tick(self) -> int:
        """Fire whatever is due and bring the alarms up to date. Safe at any time, on any node.

        Returns:
            How many fires this call made. Failures are logged and tried again at the next tick.
        """
        tasks = await self._tasks()
        if tasks is None:
            return 0
        self._alarm.keep_only({task.name for task in tasks if task.enabled})
        made = 0
        for task in tasks:
            made += await self._serve(task)
        return made

    async def run_now(self, name: str) -> datetime | None:
        """Fire a task by hand, whether enabled or not. Its schedule goes on as if nothing had happened.

        Returns:
            The occurrence the fire is recorded as, or None if there is no such task.

        Raises:
            Exception: Whatever the ledger raises; the person who asked must be told.
        """
        task = next((task for task in await self._ledger.tasks() if task.name == name), None)
        if task is None:
            return None
        now = self._now()
        # The fire below moves the mark up to which the task is served, so what is due goes first.
        await self._fire_due(task, now)
        # Schedules fire on whole seconds: a fraction keeps this row apart from every planned one.
        by_hand = now if now.microsecond else now + timedelta(microseconds=1)
        await self._ledger.fire(task, by_hand, 0)
        return by_hand

    async def _ring(self, name: str) -> None:
        # Read anew: the task may have been changed or disabled since the alarm was set.
        tasks = await self._tasks()
        for task in tasks or ():
            if task.name == name:
                await self._serve(task)

    async def _tasks(self) -> Sequence[Task] | None:
        try:
            return await self._ledger.tasks()
        except Exception:
            logger.exception("The tasks could not be read; trying again at the next tick")
            return None

    async def _serve(self, task: Task) -> int:
        """Serve one task; what goes wrong with it must not keep the others waiting."""
        try:
            if task.enabled:
                self._alarm.put(task.name, task.schedule, task.zone)
            return int(await self._fire_due(task, self._now()))
        except Exception:
            logger.exception("Task %r could not be served; trying again at the next tick", task.name)
            return 0

    async def _fire_due(self, task: Task, now: datetime) -> bool:
        if not task.enabled:
            return False
        served_until = await self._ledger.last_fire(task.name)
        if served_until is None:
            return False
        fire = plan_fire(task, served_until, now)
        if fire is None:
            return False
        made = await self._ledger.fire(task, fire.scheduled_for, fire.left_out)
        if made:
            logger.info(
                "Task %r fired for %s; %d earlier occurrences were missed and left out",
                task.name,
                fire.scheduled_for.isoformat(),
                fire.left_out,
            )
        return made
