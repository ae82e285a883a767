"""Scheduled tasks: since when they are served, and each fire once."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, update
from sqlmodel import Session, col, select

from bot.clock import new_id
from bot.lanes import Lane, thread_lane
from bot.store import inbox, threads
from bot.store.states import InboundKind
from bot.store.tables import TaskFire, TaskState
from bot.store.upsert import insert_once
from channels.messages import Address, InboundMessage


def last_served(session: Session, name: str) -> datetime | None:
    """Up to when a task has been served: its latest fire or its start point, whichever is later."""
    state = session.exec(select(TaskState).where(TaskState.name == name)).first()
    if state is None:
        return None
    latest = session.exec(
        select(TaskFire.scheduled_for)
        .where(TaskFire.task == name)
        .order_by(col(TaskFire.scheduled_for).desc())
    ).first()
    return state.first_seen_at if latest is None else max(latest, state.first_seen_at)


def reconcile(session: Session, declared: dict[str, str], now: datetime) -> None:
    """Set the start point of each declared task that is new, or whose schedule is not what it was.

    Args:
        session: The unit of work.
        declared: By name, everything that says when the task fires, as one string.
        now: The start point: nothing fires for the time before.
    """
    for name, schedule in declared.items():
        values = {"name": name, "schedule": schedule, "first_seen_at": now}
        if not insert_once(session, TaskState, values):
            changed = (col(TaskState.name) == name, col(TaskState.schedule) != schedule)
            session.execute(update(TaskState).where(*changed).values(schedule=schedule, first_seen_at=now))


def first_seen(session: Session, name: str) -> datetime | None:
    """A task's start point."""
    return session.exec(select(TaskState.first_seen_at).where(TaskState.name == name)).first()


def fire(
    session: Session,
    task: str,
    scheduled_for: datetime,
    left_out: int,
    message: InboundMessage,
    targets: Sequence[Address],
    model: str | None,
    mode: str | None,
    now: datetime,
) -> Lane | None:
    """Record one fire with its work; returns the lane to wake, or None if it was recorded before."""
    if session.get(TaskFire, (task, scheduled_for)) is not None or inbox.known(session, message.dedupe_key):
        return None
    thread = threads.resolve(session, message.dedupe_key, message.dedupe_key, new_id(), now)
    if model is not None:
        threads.set_model(session, thread.id, model)
    if mode is not None:
        threads.set_mode(session, thread.id, mode)
    lane = thread_lane(thread.id)
    if not inbox.add(
        session, message, InboundKind.TASK, now, lane=lane, thread_id=thread.id, targets=targets
    ):
        return None
    row = inbox.by_key(session, message.dedupe_key)
    assert row.id is not None
    session.add(
        TaskFire(task=task, scheduled_for=scheduled_for, fired_at=now, left_out=left_out, inbound_id=row.id)
    )
    return lane


def fires(session: Session, name: str) -> int:
    """How often a task has fired."""
    return session.exec(select(func.count()).where(TaskFire.task == name)).one()
