"""Turns time into fires: exactly one per occurrence, on any number of nodes."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from scheduler.alarm import Alarm
from scheduler.models import Standing
from scheduler.plan import Fire, plan_fire
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
            How many runs and skips this call recorded. Failures are logged and tried again at the next tick.
        """
        try:
            standings = await self._ledger.standings()
        except Exception:
            logger.exception("The tasks could not be read; trying again at the next tick")
            return 0
        self._alarm.keep_only({one.task.name for one in standings if one.task.enabled})
        made = 0
        for standing in standings:
            made += await self._serve(standing)
        await self._retry()
        return made

    async def run_now(self, name: str) -> datetime | None:
        """Fire a task by hand, whether enabled or not. Its schedule goes on as if nothing had happened.

        Returns:
            The occurrence the fire is recorded as, or None if there is no such task.

        Raises:
            Exception: Whatever the ledger raises; the person who asked must be told.
        """
        standing = await self._ledger.standing(name)
        if standing is None:
            return None
        now = self._now()
        # Schedules fire on whole seconds: a fraction keeps this row apart from every planned one.
        by_hand = now if now.microsecond else now + timedelta(microseconds=1)
        while not await self._ledger.fire(standing.task, Fire(by_hand, by_hand=True)):
            by_hand += timedelta(microseconds=1)
        return by_hand

    async def _ring(self, name: str) -> None:
        # Read anew: the task may have been changed or disabled since the alarm was set.
        try:
            standing = await self._ledger.standing(name)
        except Exception:
            logger.exception("Task %r could not be read; trying again at the next tick", name)
            return
        if standing is not None:
            await self._serve(standing)

    async def _retry(self) -> None:
        try:
            await self._ledger.retry()
        except Exception:
            logger.exception("Runs could not be tried again; trying at the next tick")

    async def _serve(self, standing: Standing) -> int:
        """Serve one task; what goes wrong with it must not keep the others waiting."""
        task = standing.task
        try:
            if task.enabled:
                self._alarm.put(task)
            fire = plan_fire(standing, self._now())
            if fire is None or not await self._ledger.fire(task, fire):
                return 0
        except Exception:
            logger.exception("Task %r could not be served; trying again at the next tick", task.name)
            return 0
        logger.info(
            "Task %r %s for %s; %d earlier occurrences were missed and left out",
            task.name,
            f"was skipped ({fire.skipped})" if fire.skipped else "fired",
            fire.scheduled_for.isoformat(),
            fire.left_out,
        )
        return 1
