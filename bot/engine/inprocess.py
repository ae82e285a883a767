"""The dispatcher of a single process: one owned task per woken lane."""

import asyncio
import logging

from bot.engine.dispatcher import Handler, Slots
from bot.lanes import Lane

log = logging.getLogger(__name__)


class InProcessDispatcher:
    """Serves lanes in this process. Forgets everything when it dies: the sweep at start wakes what is open.

    Args:
        slots: How many lanes of each kind are served at once.
    """

    def __init__(self, slots: Slots) -> None:
        self._slots = {kind: asyncio.Semaphore(count) for kind, count in slots.items()}
        self._serving: dict[Lane, asyncio.Task[None]] = {}
        self._again: set[Lane] = set()
        self._handler: Handler | None = None
        self._draining = False

    async def start(self, handler: Handler) -> None:
        """See :class:`~bot.engine.dispatcher.Dispatcher`."""
        self._handler = handler

    async def wake(self, lane: Lane) -> None:
        """See :class:`~bot.engine.dispatcher.Dispatcher`."""
        if self._handler is None or self._draining:
            return
        if lane in self._serving:
            self._again.add(lane)
            return
        self._serving[lane] = asyncio.create_task(self._serve(lane, self._handler), name=lane.name)

    async def _serve(self, lane: Lane, handler: Handler) -> None:
        try:
            async with self._slots[lane.kind]:
                while not self._draining:
                    self._again.discard(lane)
                    await handler(lane)
                    if lane not in self._again:
                        return
        except Exception:
            log.exception("lane %s failed", lane.name)
        finally:
            # No await between the last look at _again and here: a wake cannot fall in between.
            self._again.discard(lane)
            del self._serving[lane]

    async def drain(self) -> None:
        """See :class:`~bot.engine.dispatcher.Dispatcher`."""
        self._draining = True

    async def close(self) -> None:
        """See :class:`~bot.engine.dispatcher.Dispatcher`."""
        self._draining = True
        tasks = list(self._serving.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
