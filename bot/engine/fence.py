"""Keeping a process that was away too long from writing over its successor."""

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from agent_core.fence import FencedError
from bot.lanes import Lane
from bot.store import lanes
from bot.store.database import Database, StoreUnavailableError

log = logging.getLogger(__name__)

CONFIRM_SECONDS = 2.0
"""How often a holder asks the ledger whether a lane is still its own."""

STALE_SECONDS = 5.0
"""How old the last yes may be. Shorter than a dispatcher takes to give a silent holder's lane to another."""


class Fence:
    """Says whether a lane is still ours, by the last time the ledger said so.

    Args:
        lane: What is held.
        epoch: Under which epoch.
    """

    def __init__(self, lane: Lane, epoch: int) -> None:
        self.lane = lane
        self.epoch = epoch
        self._lost = False
        self._confirmed = time.monotonic()

    def check(self) -> None:
        """Pass, or raise.

        Raises:
            FencedError: The lane was taken over, or we have not been able to ask for too long.
        """
        if self._lost or time.monotonic() - self._confirmed > STALE_SECONDS:
            raise FencedError(self.lane.name)

    def confirm(self, asked_at: float) -> None:
        """The ledger said at ``asked_at`` (monotonic seconds) that the lane is ours."""
        self._confirmed = asked_at

    def lose(self) -> None:
        """The lane is another's now."""
        self._lost = True


class FenceKeeper:
    """Confirms all fences of this process. Asks nothing while none is held."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._fences: set[Fence] = set()
        self._any = asyncio.Event()

    @contextmanager
    def holding(self, lane: Lane, epoch: int) -> Iterator[Fence]:
        """A fence that is kept confirmed inside the block."""
        fence = Fence(lane, epoch)
        self._fences.add(fence)
        self._any.set()
        try:
            yield fence
        finally:
            self._fences.discard(fence)
            if not self._fences:
                self._any.clear()

    async def run(self) -> None:
        """Confirm until cancelled."""
        while True:
            await self._any.wait()
            await asyncio.sleep(CONFIRM_SECONDS)
            try:
                await self._confirm_all()
            except StoreUnavailableError as error:
                log.warning("cannot confirm what this process holds: %s", error)

    async def _confirm_all(self) -> None:
        fences = list(self._fences)
        if not fences:
            return
        asked_at = time.monotonic()
        current = await self._database.run(partial(lanes.epochs, names=[fence.lane.name for fence in fences]))
        for fence in fences:
            if current.get(fence.lane.name) == fence.epoch:
                fence.confirm(asked_at)
            else:
                fence.lose()
