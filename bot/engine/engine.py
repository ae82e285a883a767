"""The engine: serves lanes, sweeps for forgotten ones, and goes away gracefully."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

from agent_core.fence import FencedError
from bot.clock import Clock
from bot.engine.advance import ThreadWorker
from bot.engine.control import STOP_TOPIC, ControlWorker
from bot.engine.delivery import DeliveryWorker
from bot.engine.dispatcher import Dispatcher
from bot.engine.fence import FenceKeeper
from bot.engine.signals import Signals
from bot.engine.wakes import Wakes
from bot.lanes import Lane, LaneKind
from bot.store import lanes, parts, runs
from bot.store.database import Database, StoreUnavailableError

log = logging.getLogger(__name__)

SWEEP_SECONDS = 30.0
STOP_POLL_SECONDS = 2.0
"""A stop reaches the node that runs the run by a signal; should that be lost, by this poll."""

FAILED_LANE_SECONDS = 5

LET_GO_SECONDS = 5.0
"""How long a shutdown waits for work that was cut short to let go, and for a send that has begun to end."""


class Engine:
    """Brings dispatcher and workers together.

    Args:
        database: The ledger.
        dispatcher: Gets lanes served.
        signals: Hears other nodes.
        wakes: Asks for work.
        fences: Confirms what this process holds.
        threads: Runs the agent.
        control: Answers commands.
        delivery: Sends.
        now: The clock.
    """

    def __init__(
        self,
        *,
        database: Database,
        dispatcher: Dispatcher,
        signals: Signals,
        wakes: Wakes,
        fences: FenceKeeper,
        threads: ThreadWorker,
        control: ControlWorker,
        delivery: DeliveryWorker,
        now: Clock,
    ) -> None:
        self._database = database
        self._dispatcher = dispatcher
        self._signals = signals
        self._wakes = wakes
        self._now = now
        self._fences = fences
        self._threads = threads
        self._delivery = delivery
        self._workers = {
            LaneKind.THREAD: threads.advance,
            LaneKind.CONTROL: control.control,
            LaneKind.CHAT: delivery.deliver,
        }
        self._serving: dict[asyncio.Task[Any], LaneKind] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._subscriptions = ExitStack()

    async def start(self) -> None:
        """Begin to serve, with whatever an earlier life left open first."""
        self._subscriptions.enter_context(self._signals.listening(STOP_TOPIC, self._threads.stop))
        await self._signals.start()
        await self._dispatcher.start(self._serve)
        await self.sweep()
        for work in (self._fences.run, self._sweep_forever, self._poll_stops):
            self._tasks.append(asyncio.create_task(_kept_up(work)))

    async def _serve(self, lane: Lane) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving[task] = lane.kind
        try:
            await self._serve_once(lane)
        finally:
            del self._serving[task]

    async def _serve_once(self, lane: Lane) -> None:
        try:
            await self._workers[lane.kind](lane)
        except (FencedError, lanes.LostLaneError) as error:
            log.warning("stopped working in %s: %s", lane.name, error or "it was taken over")
            await self._wakes.now(lane)
        except StoreUnavailableError as error:
            log.error("%s waits for the database: %s", lane.name, error)
            self._retry(lane)
        except Exception:
            log.exception("%s failed", lane.name)
            self._retry(lane)

    def _retry(self, lane: Lane) -> None:
        self._wakes.after(lane, FAILED_LANE_SECONDS)

    async def sweep(self) -> None:
        """Wake every lane that has something open, and forget what nobody will take any more."""
        await self._database.run(partial(parts.forget_held, now=self._now()))
        for lane in await self._database.run(lanes.open_lanes):
            await self._wakes.now(lane)

    async def _sweep_forever(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            try:
                await self.sweep()
            except StoreUnavailableError as error:
                log.warning("the sweep cannot reach the database: %s", error)

    async def _poll_stops(self) -> None:
        while True:
            await asyncio.sleep(STOP_POLL_SECONDS)
            running = self._threads.running
            if not running:
                continue
            try:
                for run_id in await self._database.run(partial(runs.stop_requested, run_ids=running)):
                    self._threads.stop(run_id)
            except StoreUnavailableError as error:
                log.warning("cannot look for stop requests: %s", error)

    async def drain(self, seconds: float) -> None:
        """Begin nothing new and give running work some time; what is left resumes in the next process.

        Answers of runs that end meanwhile are still sent, on Postgres perhaps by another node.
        """
        began = time.monotonic()
        self._threads.drain()
        await self._served(LaneKind.THREAD, seconds)
        self._threads.cut()
        await self._served(LaneKind.THREAD, LET_GO_SECONDS)
        await self._served(LaneKind.CHAT, max(0.0, began + seconds - time.monotonic()))
        self._delivery.drain()
        await self._dispatcher.drain()
        await self._served(LaneKind.CHAT, LET_GO_SECONDS)
        await self.sweep()  # for other nodes; this one serves no more

    async def _served(self, kind: LaneKind, seconds: float) -> None:
        """Wait until no lane of a kind is being served, but no longer than some seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while tasks := [task for task, served in self._serving.items() if served is kind]:
                    await asyncio.wait(tasks)

    async def close(self) -> None:
        """Stop everything and let go."""
        await self._dispatcher.close()
        await self._wakes.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._subscriptions.close()
        await self._signals.close()


async def _kept_up(work: Callable[[], Awaitable[None]]) -> None:
    """Do something for as long as the engine runs, whatever goes wrong with it."""
    while True:
        try:
            await work()
        except Exception:
            log.exception("a part of the engine failed, going on")
        await asyncio.sleep(FAILED_LANE_SECONDS)
