"""Tasks: what they are, whose they are, and where they stand."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import ValidationError
from sqlalchemy import func, update
from sqlmodel import Session, col, select

from bot.messages import dump_addresses, load_addresses
from bot.store.tables import Task, TaskRun
from bot.store.upsert import insert_once
from bot.task_kinds import TaskOrigin, TaskRunState, TaskState, Trigger
from bot.task_spec import TaskSpec, dump_spec, load_spec
from channels.messages import Address

log = logging.getLogger(__name__)

_UNFINISHED = (TaskRunState.RUNNING, TaskRunState.WAITING)


@dataclass(frozen=True, slots=True)
class Owner:
    """Somebody as one account knows them."""

    channel: str
    account: str
    id: str


@dataclass(frozen=True, slots=True)
class Declared:
    """A task of ``config.yaml`` as it is to stand in the ledger.

    Args:
        spec: The task.
        enabled: Whether it fires.
        home: Where its owner is told of failures, if that is not its first target.
    """

    spec: TaskSpec
    enabled: bool
    home: Address | None = None

    @property
    def fingerprint(self) -> str:
        """All that says when it fires."""
        return f"{self.spec.timing} {'on' if self.enabled else 'off'}"


@dataclass(frozen=True, slots=True)
class Found:
    """A task's row with its specification read.

    Args:
        row: The row; not to be changed.
        spec: What it is.
        last: Its latest scheduled occurrence, if any.
        busy: Whether a scheduled run of it is not finished.
    """

    row: Task
    spec: TaskSpec
    last: datetime | None = None
    busy: bool = False

    @property
    def served_until(self) -> datetime:
        """Up to when it has been served."""
        start = self.row.first_seen_at
        return start if self.last is None else max(start, self.last)

    @property
    def owner(self) -> Owner | None:
        """Whose it is; None for a declared one."""
        row = self.row
        if row.owner_channel is None or row.owner_account is None or row.owner_id is None:
            return None
        return Owner(row.owner_channel, row.owner_account, row.owner_id)

    @property
    def home(self) -> Address:
        """Where its owner is told of failures."""
        return load_addresses(self.row.home)[0] if self.row.home else self.spec.targets[0]


def reconcile(session: Session, declared: Mapping[str, Declared], now: datetime) -> None:
    """Bring the ledger's declared tasks to what ``config.yaml`` says now.

    A task that is new, or is to fire at other times, gets a new start point: nothing fires for the time
    before. One that was paused in a chat stays so as long as its times are the same.
    """
    for name, wanted in declared.items():
        values = {
            "name": name,
            "origin": TaskOrigin.CONFIG,
            "spec": dump_spec(wanted.spec),
            "home": dump_addresses([wanted.home]) if wanted.home else None,
            "failures": 0,
        }
        state = TaskState.ACTIVE if wanted.enabled else TaskState.PAUSED
        start = {"schedule": wanted.fingerprint, "state": state, "first_seen_at": now}
        if insert_once(session, Task, {**values, **start}):
            continue
        row = session.get_one(Task, name, with_for_update=True)
        # A row without a specification comes from an earlier schema: its start point stays.
        changed = bool(row.spec) and (row.schedule != wanted.fingerprint or row.state == TaskState.GONE)
        for key in ("origin", "spec", "home"):
            setattr(row, key, values[key])
        row.schedule = wanted.fingerprint
        if changed:
            row.state, row.first_seen_at = state, now
            row.failures, row.alerted_at, row.note = 0, None, None
        session.add(row)
    gone = update(Task).where(
        col(Task.origin) == TaskOrigin.CONFIG, col(Task.name).not_in(list(declared) or [""])
    )
    session.execute(gone.values(state=TaskState.GONE))


def found(session: Session, name: str | None = None) -> list[Found]:
    """All tasks that are not gone, or the one of that name, the active ones first; those of another version
    are left out."""
    last = (
        select(TaskRun.task, func.max(TaskRun.scheduled_for).label("last"))
        .where(TaskRun.trigger == Trigger.SCHEDULE)
        .group_by(col(TaskRun.task))
        .subquery()
    )
    busy = (
        select(TaskRun.task)
        .where(
            TaskRun.task == Task.name,
            TaskRun.trigger == Trigger.SCHEDULE,
            col(TaskRun.state).in_(_UNFINISHED),
        )
        .exists()
        .label("busy")
    )
    statement = select(Task, last.c.last, busy).outerjoin(last, last.c.task == col(Task.name))
    statement = statement.where(Task.state != TaskState.GONE).order_by(col(Task.state), col(Task.name))
    if name is not None:
        statement = statement.where(Task.name == name)
    readable = []
    for row, latest, is_busy in session.exec(statement):
        try:
            readable.append(Found(row, load_spec(row.spec), latest, bool(is_busy)))
        except ValidationError:
            log.error("task %r was written by another version and is left out", row.name)
    return readable


def find(session: Session, name: str) -> Found | None:
    """One task, unless it is gone."""
    return next(iter(found(session, name)), None)


def lock(session: Session, name: str) -> Task | None:
    """A task's row, kept from others until this transaction ends."""
    return session.exec(select(Task).where(Task.name == name).with_for_update()).first()


def propose(
    session: Session,
    name: str,
    spec: TaskSpec,
    owner: Owner,
    home: Address,
    now: datetime,
) -> bool:
    """Keep a new task that nothing comes of until it is confirmed; False if there is one of that name."""
    values = {
        "name": name,
        "schedule": spec.timing,
        "first_seen_at": now,
        "origin": TaskOrigin.CHAT,
        "state": TaskState.PROPOSED,
        "spec": dump_spec(spec),
        "proposed_at": now,
        "owner_channel": owner.channel,
        "owner_account": owner.account,
        "owner_id": owner.id,
        "home": dump_addresses([home]),
        "failures": 0,
    }
    return insert_once(session, Task, values)


def propose_change(session: Session, name: str, spec: TaskSpec, now: datetime) -> None:
    """Keep a change that nothing comes of until it is confirmed."""
    _set(session, name, proposal=dump_spec(spec), proposed_at=now)


def activate(session: Session, name: str, spec: TaskSpec, now: datetime) -> None:
    """Have a task fire from now on, as this says."""
    _set(
        session,
        name,
        state=TaskState.ACTIVE,
        spec=dump_spec(spec),
        schedule=spec.timing,
        first_seen_at=now,
        proposal=None,
        proposed_at=None,
        failures=0,
        alerted_at=None,
        note=None,
    )


def resume(session: Session, name: str, now: datetime) -> None:
    """Have a task fire again. Its intervals count from now; nothing fires for the time before."""
    _set(
        session,
        name,
        state=TaskState.ACTIVE,
        first_seen_at=now,
        failures=0,
        alerted_at=None,
        note=None,
    )


def set_state(session: Session, name: str, state: TaskState, note: str | None = None) -> None:
    """Put a task where it no longer fires."""
    _set(session, name, state=state, note=note)


def update_spec(session: Session, name: str, spec: TaskSpec) -> None:
    """Change what is done, not when."""
    _set(session, name, spec=dump_spec(spec))


def set_health(session: Session, name: str, failures: int, alerted_at: datetime | None) -> None:
    """Keep how a task has been doing."""
    _set(session, name, failures=failures, alerted_at=alerted_at)


def count_owned(session: Session, owner: Owner, since: datetime) -> int:
    """How many tasks somebody has, with those that wait for a word since then."""
    statement = select(func.count()).where(
        Task.owner_channel == owner.channel,
        Task.owner_account == owner.account,
        Task.owner_id == owner.id,
        col(Task.state).in_([TaskState.ACTIVE, TaskState.PAUSED, TaskState.DISABLED])
        | ((col(Task.state) == TaskState.PROPOSED) & (col(Task.proposed_at) >= since)),
    )
    return session.exec(statement).one()


def fires(session: Session, names: Sequence[str]) -> dict[str, int]:
    """How often each task has fired, without what was skipped."""
    statement = (
        select(TaskRun.task, func.count())
        .where(col(TaskRun.task).in_(names), TaskRun.state != TaskRunState.SKIPPED)
        .group_by(col(TaskRun.task))
    )
    return {name: count for name, count in session.exec(statement)}  # noqa: C416 (rows are not pairs)


def _set(session: Session, name: str, **values: object) -> None:
    session.execute(update(Task).where(col(Task.name) == name).values(**values))
