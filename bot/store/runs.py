"""Runs: the work on one inbound row, claimed, counted and closed."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy import func, update
from sqlmodel import Session, col, select

from agent_core.events import Usage
from bot.drafts import Draft
from bot.lanes import Lane, thread_lane
from bot.messages import joined, load_addresses, load_message, storable
from bot.store import inbox, lanes, outbox, parts, threads
from bot.store.states import InboundKind, RunState
from bot.store.tables import Inbound, Run, Thread
from bot.store.task_turns import TaskTurn, task_turn
from bot.store.upsert import insert_once
from channels.messages import Address, ChatKind, InboundMessage


@dataclass(frozen=True, slots=True)
class Turn:
    """One inbound row to run the agent on, or several that were sent as one.

    Args:
        run_id: Stable over all attempts.
        inbound_id: The row, or the first of them.
        thread_id: The thread it belongs to.
        message: What was said.
        targets: Where the answer goes.
        by_person: True when somebody wrote it, and not the schedule.
        quoted: True when the answer should show what it answers.
        model: Model chosen for the thread, or None for the default.
        mode: Mode chosen for the thread, or None for the default.
        attempt: 1 for the first.
        stop_requested: Someone asked to stop before this attempt began.
        fresh: Nobody has begun to work on it.
        task: The occurrence of a task that it works on, if the schedule made it.
        forked_from: The thread that its thread goes on from, if it did not begin with nothing.
        intake: What an earlier attempt found in the message's files, as :func:`remember_intake` keeps it.
    """

    run_id: str
    inbound_id: int
    thread_id: str
    message: InboundMessage
    targets: tuple[Address, ...]
    by_person: bool
    quoted: bool
    model: str | None
    mode: str | None
    attempt: int
    stop_requested: bool
    intake: str | None
    fresh: bool
    task: TaskTurn | None = None
    forked_from: str | None = None


@dataclass(frozen=True, slots=True)
class NotYet:
    """The next row waits until then, for its next attempt or for its other parts."""

    until: datetime


def claim(
    session: Session, lane: Lane, epoch: int, new_run_id: str, started: datetime, now: datetime
) -> Turn | NotYet | None:
    """The next turn of a thread, with its attempt counted; None when nothing is open.

    Args:
        session: The unit of work.
        lane: The thread's.
        epoch: Ours.
        new_run_id: Id for the run if it has not begun yet.
        started: Since when this process has been at work.
        now: When.

    Raises:
        LostLaneError: The lane is no longer ours.
    """
    lanes.hold(session, lane, epoch)
    return _claim(session, lane, new_run_id, started, now)


def take_over(
    session: Session, lane: Lane, new_run_id: str, started: datetime, now: datetime
) -> tuple[int, Turn | NotYet | None]:
    """Become a thread's holder and claim its next turn; returns the epoch and what :func:`claim` does."""
    return lanes.take(session, lane), _claim(session, lane, new_run_id, started, now)


def _claim(
    session: Session, lane: Lane, new_run_id: str, started: datetime, now: datetime
) -> Turn | NotYet | None:
    row = inbox.first_readable(session, lane, now)
    if row is None:
        return None
    assert row.id is not None
    assert row.thread_id is not None
    rows = parts.join(session, row, started, now)
    if isinstance(rows, datetime):
        return NotYet(rows)
    # The thread's choices and the run, if it was begun, in one look: this is on every message's way.
    begun = select(Thread.model, Thread.mode, Thread.forked_from, Run).outerjoin(
        Run, col(Run.inbound_id) == row.id
    )
    found = session.exec(begun.where(Thread.id == row.thread_id)).one()
    model, mode, forked_from, run = cast(
        "tuple[str | None, str | None, str | None, Run | None]", found
    )  # an outer join: there may be no run
    if run is None:
        run = Run(
            id=new_run_id,
            thread_id=row.thread_id,
            inbound_id=row.id,
            model=model,
            mode=mode,
            started_at=now,
            attempts=1,
        )
        insert_once(session, Run, run.model_dump())
        return _turn(session, row, rows, run, forked_from, fresh=True)
    if run.not_before is not None and run.not_before > now and run.stop_requested_at is None:
        return NotYet(run.not_before)
    run.attempts += 1
    session.add(run)
    return _turn(session, row, rows, run, forked_from, fresh=False)


def _turn(
    session: Session,
    row: Inbound,
    rows: Sequence[Inbound],
    run: Run,
    forked_from: str | None,
    *,
    fresh: bool,
) -> Turn:
    message = load_message(row.body, row.text)
    if len(rows) > 1:
        message = joined(message, [part for one in rows if (part := inbox.read(one)) is not None])
    assert row.id is not None
    is_message = row.kind == InboundKind.MESSAGE
    return Turn(
        run_id=run.id,
        inbound_id=row.id,
        thread_id=run.thread_id,
        message=message,
        targets=load_addresses(row.targets) if row.targets else (message.address,),
        by_person=is_message,
        quoted=is_message and message.chat_kind is ChatKind.GROUP,
        model=run.model,
        mode=run.mode,
        attempt=run.attempts,
        stop_requested=run.stop_requested_at is not None,
        intake=run.intake,
        fresh=fresh,
        forked_from=forked_from,
        task=task_turn(session, row.id) if row.kind == InboundKind.TASK else None,
    )


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class Closing:
    """How a turn ended and what to say about it; ``suppressed`` is why nothing is said."""

    state: RunState
    answer: str
    drafts: Sequence[Draft]
    usage: Usage = NO_USAGE
    error: str | None = None
    suppressed: str | None = None


def close(session: Session, lane: Lane, epoch: int, turn: Turn, closing: Closing, now: datetime) -> set[Lane]:
    """Close a turn and write its deliveries, all or nothing; returns the lanes to wake.

    Raises:
        LostLaneError: The lane is no longer ours; nothing is written.
    """
    lanes.hold(session, lane, epoch)
    session.execute(
        update(Run)
        .where(col(Run.id) == turn.run_id)
        .values(
            state=closing.state,
            finished_at=now,
            answer=storable(closing.answer),
            error=None if closing.error is None else storable(closing.error),
            input_tokens=closing.usage.input_tokens,
            output_tokens=closing.usage.output_tokens,
            cached_tokens=closing.usage.cached_tokens,
            context_tokens=closing.usage.context_tokens,
            cost=closing.usage.cost,
        )
    )
    inbox.close(session, turn.inbound_id, now)
    if turn.message.part_of is not None:
        parts.close(session, turn.inbound_id, turn.message.part_of, turn.thread_id, now)
    return outbox.add(session, closing.drafts, now, run_id=turn.run_id)


def remember_intake(session: Session, lane: Lane, epoch: int, run_id: str, intake: str) -> None:
    """Keep what became of a message's files, so that a later attempt does not fetch them again."""
    lanes.hold(session, lane, epoch)
    session.execute(update(Run).where(col(Run.id) == run_id).values(intake=intake))


def postpone(session: Session, lane: Lane, epoch: int, run_id: str, error: str, until: datetime) -> None:
    """Note a failed attempt and when the next may begin."""
    lanes.hold(session, lane, epoch)
    session.execute(update(Run).where(col(Run.id) == run_id).values(error=storable(error), not_before=until))


def give_back(session: Session, lane: Lane, epoch: int, run_id: str) -> None:
    """Uncount an attempt that ended because this process is going away."""
    lanes.hold(session, lane, epoch)
    session.execute(update(Run).where(col(Run.id) == run_id).values(attempts=Run.attempts - 1))


@dataclass(frozen=True, slots=True)
class Stopping:
    """A run that was asked to stop, and its thread."""

    thread_id: str
    run_id: str


def request_stop(
    session: Session, thread_id: str, received_by: int, new_run_id: str, now: datetime
) -> Stopping | None:
    """Ask what a conversation is busy with to stop; None when it is idle.

    That is the run of the thread's oldest open row; or, after ``/new``, of the thread before it.

    Args:
        session: The unit of work.
        thread_id: The thread.
        received_by: Inbound id of the request: what came in after it is not meant by it.
        new_run_id: Id for the run if it has not begun yet.
        now: When.
    """
    for thread in threads.with_earlier(session, thread_id):
        run_id = _request_stop(session, thread.id, received_by, new_run_id, now)
        if run_id is not None:
            return Stopping(thread.id, run_id)
    return None


def _request_stop(
    session: Session, thread_id: str, received_by: int, new_run_id: str, now: datetime
) -> str | None:
    lane = thread_lane(thread_id)
    lanes.lock(session, lane)
    row = inbox.first_open(session, lane)
    if row is None or row.id is None or row.id > received_by:
        return None
    run = session.exec(select(Run).where(Run.inbound_id == row.id)).first()
    if run is None:  # stored and not begun yet
        run = Run(id=new_run_id, thread_id=thread_id, inbound_id=row.id, started_at=now)
    run.stop_requested_at = now
    session.add(run)
    return run.id


def stop_requested(session: Session, run_ids: Collection[str]) -> set[str]:
    """Which of these runs were asked to stop."""
    statement = select(Run.id).where(col(Run.id).in_(run_ids), col(Run.stop_requested_at).is_not(None))
    return set(session.exec(statement))


@dataclass(frozen=True, slots=True)
class ThreadUsage:
    """Tokens and cost (US dollars, if known) of all runs of a thread, and what its context fills now."""

    input_tokens: int
    output_tokens: int
    context_tokens: int
    runs: int
    cost: float | None


def usage(session: Session, thread_id: str) -> ThreadUsage:
    """What a thread has used."""
    sums = select(
        func.coalesce(func.sum(Run.input_tokens), 0),
        func.coalesce(func.sum(Run.output_tokens), 0),
        func.count(),
        func.sum(Run.cost),
    ).where(Run.thread_id == thread_id)
    spent_in, spent_out, count, cost = session.exec(sums).one()
    latest = select(Run.context_tokens).where(Run.thread_id == thread_id, col(Run.context_tokens) > 0)
    context = session.exec(latest.order_by(col(Run.started_at).desc()).limit(1)).first()
    return ThreadUsage(int(spent_in), int(spent_out), context or 0, count, cost)


def spent_by(session: Session, channel: str, account: str, sender_id: str, since: datetime) -> int:
    """Tokens of the runs that were begun for a person since then, and have ended."""
    statement = (
        select(func.coalesce(func.sum(Run.input_tokens + Run.output_tokens), 0))
        .join(Inbound, col(Inbound.id) == col(Run.inbound_id))
        .where(
            Inbound.kind == InboundKind.MESSAGE,
            Inbound.channel == channel,
            Inbound.account == account,
            Inbound.sender_id == sender_id,
            col(Run.started_at) >= since,
        )
    )
    return int(session.exec(statement).one())


def inbound_of(session: Session, run_id: str) -> Inbound | None:
    """What a run works on."""
    statement = select(Inbound).join(Run, col(Run.inbound_id) == col(Inbound.id))
    return session.exec(statement.where(Run.id == run_id)).first()


def by_inbound(session: Session, dedupe_key: str) -> Run | None:
    """The run of what came in under a dedupe key."""
    statement = select(Run).join(Inbound, col(Inbound.id) == col(Run.inbound_id))
    return session.exec(statement.where(Inbound.dedupe_key == dedupe_key)).first()
