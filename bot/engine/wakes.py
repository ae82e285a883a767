"""Asking for work: now, or when its time has come."""

import asyncio
import logging
from datetime import datetime

from bot.clock import Clock
from bot.engine.dispatcher import Dispatcher
from bot.lanes import Lane

log = logging.getLogger(__name__)


class Wakes:
    """Wakes lanes through the dispatcher, also later. What it forgets in a crash, the sweep finds.

    Args:
        dispatcher: Gets the work done.
        now: The clock that times are compared with.
    """

    def __init__(self, dispatcher: Dispatcher, now: Clock) -> None:
        self._dispatcher = dispatcher
        self._now = now
        self._timers: dict[Lane, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def now(self, lane: Lane) -> None:
        """Have a lane served soon."""
        await self._dispatcher.wake(lane)

    def at(self, lane: Lane, when: datetime) -> None:
        """Have a lane served at a time; a later call replaces an earlier one."""
        self.after(lane, max(0.0, (when - self._now()).total_seconds()))

    def after(self, lane: Lane, seconds: float) -> None:
        """Have a lane served in some seconds; a later call replaces an earlier one."""
        self.cancel(lane)
        self._timers[lane] = asyncio.get_running_loop().call_later(seconds, self._ring, lane)

    def cancel(self, lane: Lane) -> None:
        """Forget a lane's later wake."""
        timer = self._timers.pop(lane, None)
        if timer is not None:
            timer.cancel()

    def _ring(self, lane: Lane) -> None:
        self._timers.pop(lane, None)
        task = asyncio.create_task(self._dispatcher.wake(lane))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Forget all later wakes."""
        for lane in list(self._timers):
            self.cancel(lane)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
