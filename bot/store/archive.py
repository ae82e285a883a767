"""What was said in threads, for operators; and forgetting it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, CursorResult, delete, func, or_, update
from sqlmodel import Session, col, select

from bot.lanes import thread_lane
from bot.store import lanes
from bot.store.states import DeliveryState, InboundKind, RunState
from bot.store.tables import Delivery, Inbound, Run, Thread

_UNSETTLED = (DeliveryState.OPEN, DeliveryState.SENDING)
_SPOKEN = (InboundKind.MESSAGE, InboundKind.TASK)


class ThreadBusyError(Exception):
    """A thread has something open; nothing was deleted."""


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread in a list.

    Args:
        thread: The thread.
        messages: How much people and the schedule said in it.
        latest: When the last of it came in.
        channel, chat: Where that was; for a task's thread, where it answers.
        spent: Tokens of all runs.
    """

    thread: Thread
    messages: int
    latest: datetime
    channel: str
    chat: str
    spent: int


def threads(session: Session, limit: int) -> list[ThreadRow]:
    """The threads in which something was said, the one used last first."""
    said = (
        select(Inbound.thread_id, func.count().label("messages"), func.max(Inbound.id).label("last"))
        .where(col(Inbound.kind).in_(_SPOKEN), col(Inbound.thread_id).is_not(None))
        .group_by(Inbound.thread_id)
        .subquery()
    )
    spent = (
        select(Run.thread_id, func.sum(Run.input_tokens + Run.output_tokens).label("spent"))
        .group_by(Run.thread_id)
        .subquery()
    )
    rows = session.execute(
        select(Thread, said.c.messages, Inbound, spent.c.spent)
        .join(said, said.c.thread_id == Thread.id)
        .join(Inbound, col(Inbound.id) == said.c.last)
        .outerjoin(spent, spent.c.thread_id == Thread.id)
        .order_by(col(Inbound.id).desc())
        .limit(limit)
    )
    return [
        ThreadRow(thread, messages, last.received_at, last.channel, last.chat_id, int(tokens or 0))
        for thread, messages, last, tokens in rows
    ]


def matching(session: Session, prefix: str) -> list[str]:
    """Ids of threads that begin so, at most a few."""
    statement = select(Thread.id).where(col(Thread.id).startswith(prefix, autoescape=True))
    return list(session.exec(statement.order_by(Thread.id).limit(5)))


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was said, and what came of it."""

    said: Inbound
    run: Run | None
    files: tuple[Delivery, ...]


def turns(session: Session, thread_id: str) -> list[Turn]:
    """All that was said in a thread, in order."""
    inbound = session.exec(
        select(Inbound)
        .where(Inbound.thread_id == thread_id, col(Inbound.kind).in_(_SPOKEN))
        .order_by(col(Inbound.id))
    ).all()
    runs = {run.inbound_id: run for run in session.exec(select(Run).where(Run.thread_id == thread_id))}
    files: dict[str, list[Delivery]] = {}
    sent = select(Delivery).join(Run, col(Run.id) == col(Delivery.run_id))
    for file in session.exec(
        sent.where(Run.thread_id == thread_id, col(Delivery.file_path).is_not(None)).order_by(
            col(Delivery.id)
        )
    ):
        files.setdefault(file.run_id or "", []).append(file)
    found = []
    for row in inbound:
        run = runs.get(row.id or 0)
        found.append(Turn(row, run, tuple(files.get(run.id, ())) if run else ()))
    return found


def forget_thread(session: Session, thread_id: str) -> list[str]:
    """Delete what was said in a thread; returns the ids of its runs, whose files are to go as well.

    The thread itself stays, empty, for what may just be coming in for it. So do the keys of its messages
    without their content: a platform that sends one again gets no second answer.

    Raises:
        ThreadBusyError: Something is open.
    """
    # Whoever works on it loses it, and nobody begins before this is done.
    lanes.take(session, thread_lane(thread_id))
    if is_busy(session, thread_id):
        raise ThreadBusyError(thread_id)
    runs = list(session.exec(select(Run.id).where(Run.thread_id == thread_id)))
    for some in _chunks(runs):
        session.execute(delete(Delivery).where(col(Delivery.run_id).in_(some)))
        session.execute(delete(Run).where(col(Run.id).in_(some)))
    session.execute(
        update(Inbound)
        .where(col(Inbound.thread_id) == thread_id)
        .values(
            kind=InboundKind.REJECTED,
            thread_id=None,
            lane=None,
            text="",
            body="",
            targets=None,
            note="deleted",
        )
    )
    return runs


def is_busy(session: Session, thread_id: str) -> bool:
    """Whether a thread has a message that is not answered, or an answer that is not sent."""
    open_inbound = select(Inbound.id).where(Inbound.thread_id == thread_id, col(Inbound.done_at).is_(None))
    unsent = (
        select(Delivery.id)
        .join(Run, col(Run.id) == col(Delivery.run_id))
        .where(Run.thread_id == thread_id, col(Delivery.state).in_(_UNSETTLED))
    )
    return bool(session.exec(open_inbound.limit(1)).first() or session.exec(unsent.limit(1)).first())


def silent_threads(session: Session, before: datetime) -> list[str]:
    """Threads that hold something, in which nothing happened since, and nothing is open."""
    since = select(Inbound.id).where(
        Inbound.thread_id == Thread.id, or_(col(Inbound.received_at) >= before, _not_done_before(before))
    )
    something = select(Inbound.id).where(Inbound.thread_id == Thread.id)
    statement = select(Thread.id).where(col(Thread.created_at) < before, something.exists(), ~since.exists())
    return [thread_id for thread_id in session.exec(statement) if not is_busy(session, thread_id)]


def expire(session: Session, before: datetime, most: int) -> tuple[int, list[str]]:
    """Delete up to so many things that came in and were settled before; nothing that is open.

    Returns how many there were, and the ids of their runs, whose files are to go as well.
    """
    unsent = (
        select(Delivery.id)
        .join(Run, col(Run.id) == col(Delivery.run_id))
        .where(Run.inbound_id == Inbound.id, or_(col(Delivery.state).in_(_UNSETTLED), _sent_after(before)))
    )
    running = select(Run.id).where(Run.inbound_id == Inbound.id, Run.state == RunState.RUNNING)
    old = (
        select(Inbound.id)
        .where(col(Inbound.received_at) < before, ~_not_done_before(before))
        .where(~unsent.exists(), ~running.exists())
        .order_by(col(Inbound.id))
        .limit(most)
    )
    ids = [row for row in session.exec(old) if row is not None]
    runs = list(session.exec(select(Run.id).where(col(Run.inbound_id).in_(ids))))
    session.execute(delete(Delivery).where(col(Delivery.run_id).in_(runs)))
    session.execute(delete(Run).where(col(Run.id).in_(runs)))
    session.execute(delete(Inbound).where(col(Inbound.id).in_(ids)))
    return len(ids), runs


def expire_notices(session: Session, before: datetime, most: int) -> int:
    """Delete up to so many settled deliveries of no run, such as answers to commands."""
    old = select(Delivery.id).where(
        col(Delivery.run_id).is_(None),
        col(Delivery.created_at) < before,
        col(Delivery.state).not_in(_UNSETTLED),
    )
    ids = [row for row in session.exec(old.order_by(col(Delivery.id)).limit(most)) if row is not None]
    gone = session.execute(delete(Delivery).where(col(Delivery.id).in_(ids)))
    assert isinstance(gone, CursorResult)
    return gone.rowcount


def files_needed(session: Session) -> set[str]:
    """Paths, relative to the home, of the files of deliveries that are still to be sent."""
    statement = select(Delivery.file_path).where(
        col(Delivery.state).in_(_UNSETTLED), col(Delivery.file_path).is_not(None)
    )
    return {path for path in session.exec(statement) if path is not None}


def busy_threads(session: Session, thread_ids: Sequence[str]) -> set[str]:
    """Those of these threads that have something open."""
    return {thread_id for thread_id in thread_ids if is_busy(session, thread_id)}


def _not_done_before(before: datetime) -> ColumnElement[bool]:
    return or_(col(Inbound.done_at).is_(None), col(Inbound.done_at) >= before)


def _sent_after(before: datetime) -> ColumnElement[bool]:
    return col(Delivery.sent_at) >= before


def _chunks(ids: Sequence[str], size: int = 500) -> list[Sequence[str]]:
    return [ids[start : start + size] for start in range(0, len(ids), size)]
