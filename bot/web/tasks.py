"""Scheduled tasks over HTTP, for the ``hart tasks`` commands."""

import asyncio
from functools import partial
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query
from pydantic import BaseModel

from bot.runner import TaskRunner
from bot.store import outbox, runs
from bot.store.database import Database
from bot.store.states import RunState

POLL_SECONDS = 0.2
MAX_WAIT_SECONDS = 60


class TaskSummary(BaseModel):
    """One declared task."""

    name: str
    schedule: str
    enabled: bool
    next_fires: list[str]
    targets: list[str]
    fired: int


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
                schedule=one.schedule,
                enabled=one.enabled,
                next_fires=[fire.isoformat() for fire in one.next_fires],
                targets=list(one.targets),
                fired=one.fired,
            )
            for one in await runner.overview()
        ]

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


async def _outcome(database: Database, key: str) -> FireOutcome:
    run = await database.run(partial(runs.by_inbound, dedupe_key=key))
    if run is None:
        return FireOutcome(state="waiting", answer="", settled=False, deliveries=[])
    deliveries = await database.run(partial(outbox.for_run, run_id=run.id))
    over = run.state != RunState.RUNNING
    return FireOutcome(
        state=run.state,
        answer=run.answer or "",
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
