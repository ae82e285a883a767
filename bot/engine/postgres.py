"""The dispatcher of any number of nodes: lanes as Procrastinate jobs on Postgres.

A wake is a job with the lane's name as its lock (one at a time) and as its queueing lock (no pile-up). Who
works, and that a dead node's work goes on elsewhere, is Procrastinate's; the fence and the ledger see to it
that a node which only seemed dead does no harm.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import procrastinate
import psycopg
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.job_context import JobContext
from procrastinate.jobs import DeleteJobCondition, Job, Status
from procrastinate.worker import Worker

from bot.engine.dispatcher import Handler, Slots
from bot.engine.listening import ListeningConnection
from bot.lanes import Lane, LaneKind

log = logging.getLogger(__name__)

POLL_SECONDS = 5.0
"""How soon a job is found whose lock was let go by a node that itself takes no more."""

HEARTBEAT_SECONDS = 2.0
STALLED_SECONDS = 6.0
"""A node silent for this long has lost its lanes. Longer than :data:`bot.engine.fence.STALE_SECONDS`."""

RESTART_SECONDS = 2.0
"""How long to wait before going on after the database was away."""


class PostgresDispatcher:
    """Serves lanes on whichever node has a free slot.

    Args:
        conninfo: libpq connection string; LISTEN needs a direct connection, not a transaction pooler.
        slots: How many lanes of each kind this node serves at once.
    """

    def __init__(self, conninfo: str, slots: Slots) -> None:
        connector = procrastinate.PsycopgConnector(
            conninfo=conninfo,
            connection_class=ListeningConnection,
            configure=_one_statement_a_transaction,
            min_size=1,
            max_size=8,
        )
        self._app = procrastinate.App(connector=connector)
        self._slots = slots
        self._handler: Handler | None = None
        self._task = self._app.task(name="serve_lane", pass_context=False)(self._serve)
        self._workers: list[asyncio.Task[None]] = []
        self._rescuer: asyncio.Task[None] | None = None

    async def start(self, handler: Handler) -> None:
        """See :class:`~bot.engine.dispatcher.Dispatcher`."""
        self._handler = handler
        await self._app.open_async()
        for kind in self._slots:
            work = asyncio.create_task(_forever(partial(self._work, kind)), name=f"worker-{kind}")
            self._workers.append(work)
        self._rescuer = asyncio.create_task(_forever(self._rescue), name="rescuer")

    async def wake(self, lane: Lane) -> None:
        """See :class:`~bot.engine.dispatcher.Dispatcher`."""
        job = self._task.configure(queue=lane.kind.value, lock=lane.name, queueing_lock=lane.name)
        try:
            await job.defer_async(lane=lane.name)
        except AlreadyEnqueued:
            pass
        except ConnectorException as error:
            log.warning("cannot wake %s now, the sweep will: %s", lane.name, error)

    async def _serve(self, lane: str) -> None:
        assert self._handler is not None
        await self._handler(Lane.parse(lane))

    async def _work(self, kind: LaneKind) -> None:
        worker = _LaneWorker(
            self._app,
            queues=[kind.value],
            name=kind.value,
            concurrency=self._slots[kind],
            fetch_job_polling_interval=POLL_SECONDS,
            update_heartbeat_interval=HEARTBEAT_SECONDS,
            stalled_worker_timeout=STALLED_SECONDS,
            delete_jobs=DeleteJobCondition.ALWAYS,
            install_signal_handlers=False,
        )
        await worker.run()  # type: ignore[no-untyped-call]

    async def _rescue(self) -> None:
        """Give the jobs of silent nodes to others."""
        manager = self._app.job_manager
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            for job in await manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_SECONDS):
                await self._revive(job)

    async def _revive(self, job: Job) -> None:
        assert job.lock is not None, "every job is a lane's"
        log.warning("taking over %s from a silent node", job.lock)
        # A new job, and not the old one retried: the silent node may come back and finish the old one. That
        # would free the lock of its successor, and a third would begin beside it.
        await self.wake(Lane.parse(job.lock))
        try:
            await self._app.job_manager.finish_job(job, Status.FAILED, delete_job=True)
        except ConnectorException as error:
            # Its node was alive after all and finished it, or another node was faster.
            log.info("%s was let go by another: %s", job.lock, error)

    async def drain(self) -> None:
        """See :class:`~bot.engine.dispatcher.Dispatcher`."""
        for worker in self._workers:
            worker.cancel()  # Procrastinate's worker then fetches no more and waits for its running jobs.

    async def close(self) -> None:
        """See :class:`~bot.engine.dispatcher.Dispatcher`."""
        await self.drain()
        if self._rescuer is not None:
            self._rescuer.cancel()
        tasks = [*self._workers, *([self._rescuer] if self._rescuer else [])]
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._app.close_async()


class _News(asyncio.Event):
    """An event that also tells how often it was set: clearing it forgets what came meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.times = 0

    def set(self) -> None:
        self.times += 1
        super().set()


class _LaneWorker(Worker):
    """Procrastinate's worker, mended in three places that have no setting."""

    def __init__(self, app: procrastinate.App, **options: Any) -> None:
        super().__init__(app, **options)
        self._new_job_event: _News = _News()

    async def _periodic_deferrer(self) -> None:
        """Stay: with nothing periodic this would end at once, and the watch over all side tasks with it."""
        await asyncio.Event().wait()

    async def _fetch_and_process_jobs(self) -> None:
        """Look again if something came while it looked, which it would forget."""
        heard = None
        while heard != self._new_job_event.times and not self._stop_event.is_set():
            heard = self._new_job_event.times
            await super()._fetch_and_process_jobs()  # type: ignore[no-untyped-call]

    async def _process_job(self, context: JobContext) -> None:
        """Fetch again once a job is finished: that frees its lock, but announces nothing."""
        await super()._process_job(context)
        self._new_job_event.set()


async def _one_statement_a_transaction(connection: psycopg.AsyncConnection[Any]) -> None:
    """Spare BEGIN and COMMIT their round trips: all that Procrastinate does is one statement each."""
    await connection.set_autocommit(True)


async def _forever(work: Callable[[], Awaitable[None]]) -> None:
    """Do the work until cancelled, again and again when the database goes away."""
    while True:
        try:
            await work()
        except Exception as error:  # noqa: BLE001 (a task's boundary: whatever it was, go on)
            log.warning("the dispatcher lost the database, trying again: %s", error)
        await asyncio.sleep(RESTART_SECONDS)
