"""A handler of lanes that can be held back and tells what it did."""

import asyncio
from collections import Counter
from collections.abc import Callable

from bot.lanes import Lane


class LaneService:
    """Serves lanes: ``await`` it with one. While ``gate`` is clear, service does not end."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.active: Counter[Lane] = Counter()
        self.begun: list[Lane] = []
        self.ended: list[Lane] = []
        self.most_per_lane = 0
        self.most_at_once = 0
        self._changed = asyncio.Condition()

    async def __call__(self, lane: Lane) -> None:
        """Serve a lane."""
        self.active[lane] += 1
        self.begun.append(lane)
        self.most_per_lane = max(self.most_per_lane, self.active[lane])
        self.most_at_once = max(self.most_at_once, self.active.total())
        try:
            await self._tell()
            await self.gate.wait()
        finally:
            self.active[lane] -= 1
        self.ended.append(lane)
        await self._tell()

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def until(self, predicate: Callable[[], bool], timeout: float = 20.0) -> None:
        """Wait until something is true of what was served."""
        async with asyncio.timeout(timeout), self._changed:
            await self._changed.wait_for(predicate)
