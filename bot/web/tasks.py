"""Scheduled tasks over HTTP, for the ``hart tasks`` commands."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query
from pydantic import BaseModel

from bot.runner import TaskRunner
from bot.store import outbox, runs, task_runs
from bot.store.database import Database
from bot.store.states import RunState
from bot.store.tables import Delivery
from bot.store.task_runs import Logged

POLL_SECONDS = 0.2
MAX_WAIT_SECONDS = 60


class TaskSummary(BaseModel):
    """One task."""

    name: str
    title: str
    schedule: str
    state: str
    enabled: bool
    note: str | None
    next_fires: list[str]
    targets: list[str]
    fired: int


class LoggedRun(BaseModel):
    """One occurrence. Whether people got its outcome is ``delivery``."""

    scheduled_for: str
    trigger: str
    state: str
    delivery: str
    tries: int
    left_out: int
    note: str | None
    tokens: int
    answer: str


class Fired(BaseModel):
    """A fire by hand; ``key`` asks for its outcome."""

    key: str


class DeliveryOutcome(BaseModel):
    """Where one part of the result stands."""

    id: int
    channel: str
    chat: str
    state: str
    text: str | None
    file: str | None


class FireOutcome(BaseModel):
    """Where a fire stands. ``state`` is ``waiting`` until its run has begun."""

    state: str
    answer: str
    settled: bool
    deliveries: list[DeliveryOutcome]


def task_routes(runner: TaskRunner, database: Database) -> APIRouter:
    """Routes to list and run tasks."""
    router = APIRouter(prefix="/api/tasks")

    @router.get("")
    async def list_tasks() -> list[TaskSummary]:
        return [
            TaskSummary(
                name=one.name,
                title=one.title,
                schedule=one.schedule,
                state=one.state,
                enabled=one.enabled,
                note=one.note,
                next_fires=[fire.isoformat() for fire in one.next_fires],
                targets=list(one.targets),
                fired=one.fired,
            )
            for one in await runner.overview()
        ]

    @router.get("/{name}/runs")
    async def list_runs(name: str) -> list[LoggedRun]:
        return [_logged(one) for one in await runner.log(name)]

    @router.post("/{name}/pause", status_code=204)
    async def pause(name: str) -> None:
        if not await runner.pause(name):
            raise HTTPException(404, f"There is no task {name!r}.")

    @router.post("/{name}/resume", status_code=204)
    async def resume(name: str) -> None:
        if not await runner.resume(name):
            raise HTTPException(404, f"There is no task {name!r}.")

    @router.post("/{name}/run", status_code=202)
    async def run_task(name: str) -> Fired:
        key = await runner.run_now(name)
        if key is None:
            raise HTTPException(404, f"There is no task {name!r}.")
        return Fired(key=key)

    @router.get("/fires/{key:path}")
    async def outcome(key: str, wait: Annotated[float, Query(ge=0, le=MAX_WAIT_SECONDS)] = 0) -> FireOutcome:
        for _ in range(int(wait / POLL_SECONDS) + 1):
            found = await _outcome(database, key)
            if found.settled:
                break
            await asyncio.sleep(POLL_SECONDS)
        return found

    return router


def _logged(one: Logged) -> LoggedRun:
    work = one.work
    return LoggedRun(
        scheduled_for=one.run.scheduled_for.isoformat(),
        trigger=one.run.trigger,
        state=one.run.state,
        delivery=one.delivery,
        tries=one.run.tries,
        left_out=one.run.left_out,
        note=one.run.note,
        tokens=0 if work is None else work.input_tokens + work.output_tokens,
        answer="" if work is None else work.answer or "",
    )


async def _outcome(database: Database, key: str) -> FireOutcome:
    run = await database.run(partial(runs.by_inbound, dedupe_key=key))
    if run is None:
        logged = await database.run(partial(task_runs.without_run, key=key))
        if logged is None:
            return FireOutcome(state="waiting", answer="", settled=False, deliveries=[])
        return _told(logged.run.state, logged.run.note or "", logged.deliveries, over=True)
    deliveries = await database.run(partial(outbox.for_run, run_id=run.id))
    return _told(run.state, run.answer or "", deliveries, over=run.state != RunState.RUNNING)


def _told(state: str, answer: str, deliveries: Sequence[Delivery], *, over: bool) -> FireOutcome:
    return FireOutcome(
        state=state,
        answer=answer,
        settled=over and all(not outbox.is_open(delivery) for delivery in deliveries),
        deliveries=[
            DeliveryOutcome(
                id=delivery.id or 0,
                channel=delivery.channel,
                chat=delivery.chat_id,
                state=delivery.state,
                text=delivery.text,
                file=delivery.file_name,
            )
            for delivery in deliveries
        ],
    )
