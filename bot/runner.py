"""Scheduled tasks as an operator sees them: what there is, when it fires, and firing it by hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

from sqlmodel import Session

from bot.clock import Clock
from bot.store import task_runs, tasks
from bot.store.database import Database
from bot.store.task_runs import Logged, fire_key
from bot.store.tasks import Found
from bot.task_kinds import TaskOrigin, TaskState
from bot.task_words import SHOWN_FIRES
from scheduler.dispatcher import TaskDispatcher
from scheduler.schedule import next_fires

LOGGED_RUNS = 20


@dataclass(frozen=True, slots=True)
class TaskOverview:
    """One task for people.

    Args:
        name: Its name.
        title: What people call it.
        schedule: When it fires, in words.
        state: Where it stands.
        declared: Whether ``config.yaml`` declares it.
        next_fires: The next few times (aware, in the task's zone); none when it does not fire.
        targets: Where the result goes, in words.
        fired: How often it has fired.
        failures: Failures since the last success.
        note: Why it stands where it stands, if there is a reason.
    """

    name: str
    title: str
    schedule: str
    state: str
    declared: bool
    next_fires: Sequence[datetime]
    targets: Sequence[str]
    fired: int
    failures: int
    note: str | None

    @property
    def enabled(self) -> bool:
        """Whether its schedule fires."""
        return self.state == TaskState.ACTIVE


class TaskRunner:
    """Shows and fires tasks.

    Args:
        dispatcher: Fires them.
        database: The ledger.
        now: The clock.
    """

    def __init__(self, dispatcher: TaskDispatcher, database: Database, now: Clock) -> None:
        self._dispatcher = dispatcher
        self._database = database
        self._now = now

    async def overview(self) -> list[TaskOverview]:
        """Every task, those that wait to be confirmed left out."""
        return await self._database.run(partial(_overview, now=self._now()))

    async def log(self, name: str) -> list[Logged]:
        """The latest occurrences of a task, the newest first."""
        return await self._database.run(partial(task_runs.latest, name=name, count=LOGGED_RUNS))

    async def pause(self, name: str) -> bool:
        """Have a task fire no more for a while; False if there is none of that name."""
        return await self._database.run(partial(_pause, name=name))

    async def resume(self, name: str) -> bool:
        """Have a task fire again, from now on; False if there is none of that name."""
        return await self._database.run(partial(_resume, name=name, now=self._now()))

    async def run_now(self, name: str) -> str | None:
        """Fire a task by hand, enabled or not; returns the key of the fire, or None if there is no such task.

        Its schedule goes on as if nothing had happened.
        """
        at = await self._dispatcher.run_now(name)
        return None if at is None else fire_key(name, at)


def _pause(session: Session, name: str) -> bool:
    found = tasks.find(session, name)
    if found is not None and found.row.state == TaskState.ACTIVE:
        tasks.set_state(session, name, TaskState.PAUSED)
    return found is not None


def _resume(session: Session, name: str, now: datetime) -> bool:
    found = tasks.find(session, name)
    if found is not None and found.row.state in (TaskState.PAUSED, TaskState.DISABLED):
        tasks.resume(session, name, now)
    return found is not None


def _overview(session: Session, now: datetime) -> list[TaskOverview]:
    found = [one for one in tasks.found(session) if one.row.state != TaskState.PROPOSED]
    fired = tasks.fires(session, [one.row.name for one in found])
    return [_one(one, fired.get(one.row.name, 0), now) for one in found]


def _one(found: Found, fired: int, now: datetime) -> TaskOverview:
    row, spec = found.row, found.spec
    zone, schedule = ZoneInfo(spec.zone), spec.schedule(row.first_seen_at)
    active = row.state == TaskState.ACTIVE
    coming = next_fires(schedule, zone, now, SHOWN_FIRES) if active else []
    return TaskOverview(
        name=row.name,
        title=spec.title,
        schedule=spec.described(row.first_seen_at),
        state=row.state,
        declared=row.origin == TaskOrigin.CONFIG,
        next_fires=[fire.astimezone(zone) for fire in coming],
        targets=[f"{target.channel} {target.chat_id}" for target in spec.targets],
        fired=fired,
        failures=row.failures,
        note=row.note,
    )
