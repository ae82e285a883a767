"""Occurrences of tasks: each once, with the work it calls for and how it went."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlmodel import Session, col, select

from bot.clock import new_id
from bot.drafts import Draft
from bot.lanes import Lane, thread_lane
from bot.store import inbox, outbox, tasks, threads
from bot.store.runs import Stopping, request_stop
from bot.store.states import DeliveryState, InboundKind
from bot.store.tables import Delivery, Inbound, Run, TaskRun
from bot.store.upsert import insert_once
from bot.task_kinds import TaskContext, TaskRunState, TaskState, Trigger
from bot.task_spec import TaskSpec
from channels.messages import ChatKind, InboundMessage, Sender
from scheduler.plan import Fire

SCHEDULER = Sender("scheduler", "Scheduler")


@dataclass(frozen=True, slots=True)
class Fired:
    """What a fire calls for.

    Args:
        lanes: To wake.
        cancelled: Runs to end first.
    """

    lanes: frozenset[Lane] = frozenset()
    cancelled: tuple[Stopping, ...] = field(default=())


def fire_key(name: str, scheduled_for: datetime) -> str:
    """The key of one occurrence: equal on every node."""
    return f"{threads.TASK_KEY}{name}:{scheduled_for.isoformat()}"


def record(
    session: Session, name: str, spec: TaskSpec, fire: Fire, now: datetime, state: TaskRunState
) -> bool:
    """Record an occurrence; False if it was recorded before."""
    values = {
        "task": name,
        "scheduled_for": fire.scheduled_for,
        "trigger": Trigger.MANUAL if fire.by_hand else Trigger.SCHEDULE,
        "state": state,
        "fired_at": now,
        "left_out": fire.left_out,
        "tries": 0,
        "finished_at": None if state is TaskRunState.RUNNING else now,
        "note": fire.skipped,
    }
    made = insert_once(session, TaskRun, values)
    if made and spec.at is not None and state is not TaskRunState.RUNNING and not fire.by_hand:
        tasks.set_state(session, name, TaskState.DONE, fire.skipped)
    return made


def begin(
    session: Session, name: str, spec: TaskSpec, fire: Fire, prompt: str, now: datetime
) -> Fired | None:
    """Record an occurrence with the run it calls for; None if it was recorded before."""
    if not record(session, name, spec, fire, now, TaskRunState.RUNNING):
        return None
    cancelled = _cancel(session, name, fire.scheduled_for, now) if fire.cancel_previous else ()
    run = session.get_one(TaskRun, (name, fire.scheduled_for))
    return Fired(frozenset({_try(session, run, spec, prompt, now)}), cancelled)


def post(
    session: Session, name: str, spec: TaskSpec, fire: Fire, drafts: Sequence[Draft], now: datetime
) -> Fired | None:
    """Record an occurrence that calls for no run, only for posting; None if it was recorded before."""
    if not record(session, name, spec, fire, now, TaskRunState.DONE):
        return None
    return Fired(frozenset(outbox.add(session, drafts, now)))


def due_retries(session: Session, now: datetime) -> list[tuple[str, datetime]]:
    """The occurrences whose next try is due."""
    waiting = select(TaskRun.task, TaskRun.scheduled_for).where(
        TaskRun.state == TaskRunState.WAITING, col(TaskRun.retry_at) <= now
    )
    return list(session.exec(waiting.order_by(col(TaskRun.retry_at))))


def retry(session: Session, name: str, scheduled_for: datetime, now: datetime) -> Lane | None:
    """Begin the next try of an occurrence; None if another node did, or it is no longer wanted."""
    tasks.lock(session, name)
    run = session.get_one(TaskRun, (name, scheduled_for), with_for_update=True)
    if run.state != TaskRunState.WAITING:
        return None
    task = tasks.find(session, name)
    newer = select(TaskRun.task).where(
        TaskRun.task == name,
        col(TaskRun.scheduled_for) > scheduled_for,
        TaskRun.state != TaskRunState.SKIPPED,
    )
    if task is None or task.row.state != TaskState.ACTIVE or session.exec(newer.limit(1)).first():
        run.state, run.finished_at = TaskRunState.FAILED, now
        session.add(run)
        return None
    before = session.get_one(Inbound, run.inbound_id)
    run.state, run.retry_at = TaskRunState.RUNNING, None
    return _try(session, run, task.spec, before.text, now)


def _try(session: Session, run: TaskRun, spec: TaskSpec, prompt: str, now: datetime) -> Lane:
    """Store the message that has the agent run."""
    run.tries += 1
    key = fire_key(run.task, run.scheduled_for)
    if run.tries > 1:
        key = f"{key}:{run.tries}"
    in_chat = spec.context is TaskContext.THREAD and spec.thread_key is not None
    thread_key = spec.thread_key if in_chat and spec.thread_key is not None else key
    thread = threads.resolve(session, thread_key, key, new_id(), now)
    if not in_chat:
        if spec.model is not None:
            threads.set_model(session, thread.id, spec.model)
        if spec.mode is not None:
            threads.set_mode(session, thread.id, spec.mode)
    message = InboundMessage(
        address=spec.targets[0],
        chat_kind=ChatKind.DIRECT,
        sender=SCHEDULER,
        message_id=key,
        dedupe_key=key,
        text=prompt,
    )
    lane = thread_lane(thread.id)
    kind = InboundKind.TASK
    inbox.add(session, message, kind, now, lane=lane, thread_id=thread.id, targets=spec.targets)
    run.inbound_id = inbox.by_key(session, key).id
    session.add(run)
    return lane


def _cancel(session: Session, name: str, for_this: datetime, now: datetime) -> tuple[Stopping, ...]:
    """Ask the other runs of a task that are going on to end; the tries that wait are not made."""
    going = select(TaskRun).where(
        TaskRun.task == name,
        TaskRun.scheduled_for != for_this,
        col(TaskRun.state).in_([TaskRunState.RUNNING, TaskRunState.WAITING]),
    )
    stopping = []
    for run in session.exec(going.with_for_update()):
        if run.state == TaskRunState.WAITING:
            run.state, run.finished_at = TaskRunState.FAILED, now
            session.add(run)
        elif (found := _stop(session, run, now)) is not None:
            stopping.append(found)
    return tuple(stopping)


def _stop(session: Session, run: TaskRun, now: datetime) -> Stopping | None:
    row = session.get(Inbound, run.inbound_id)
    if row is None or row.id is None or row.thread_id is None:
        return None
    first = inbox.first_open(session, thread_lane(row.thread_id))
    if first is None or first.id != row.id:
        return None  # in a conversation: it waits behind what a person asked, which must not be ended
    return request_stop(session, row.thread_id, row.id, new_id(), now)


def by_inbound(session: Session, inbound_id: int) -> TaskRun | None:
    """The occurrence that a message was made for."""
    return session.exec(select(TaskRun).where(TaskRun.inbound_id == inbound_id)).first()


def by_run(session: Session, run_id: str) -> TaskRun | None:
    """The occurrence that a run worked on."""
    made = select(TaskRun).join(Run, col(Run.inbound_id) == TaskRun.inbound_id)
    return session.exec(made.where(Run.id == run_id)).first()


@dataclass(frozen=True, slots=True)
class Logged:
    """One occurrence for people.

    Args:
        run: The occurrence.
        work: The run of its latest try, if it called for one.
        deliveries: What was, or is to be, posted of it.
    """

    run: TaskRun
    work: Run | None
    deliveries: Sequence[Delivery]

    @property
    def delivery(self) -> str:
        """Whether people got the outcome: ``pending``, ``delivered``, ``failed``, ``partly``, or why not."""
        if self.run.suppressed is not None:
            return self.run.suppressed
        states = {delivery.state for delivery in self.deliveries}
        if not states:
            return "none"
        if states & {DeliveryState.OPEN, DeliveryState.SENDING}:
            return "pending"
        if states == {DeliveryState.SENT}:
            return "delivered"
        return "failed" if states == {DeliveryState.FAILED} else "partly"


def latest(session: Session, name: str, count: int) -> list[Logged]:
    """The latest occurrences of a task, the newest first."""
    statement = select(TaskRun).where(TaskRun.task == name).order_by(col(TaskRun.scheduled_for).desc())
    return [_logged(session, run) for run in session.exec(statement.limit(count))]


def without_run(session: Session, key: str) -> Logged | None:
    """The occurrence of a key, if it called for no run of the agent: a reminder, or one that was skipped."""
    _, _, rest = key.partition(":")
    name, _, moment = rest.partition(":")
    try:
        found = session.get(TaskRun, (name, datetime.fromisoformat(moment)))
    except ValueError:
        return None
    return None if found is None or found.inbound_id is not None else _logged(session, found)


def _logged(session: Session, run: TaskRun) -> Logged:
    work = session.exec(select(Run).where(Run.inbound_id == run.inbound_id)).first()
    if work is not None:
        return Logged(run, work, outbox.for_run(session, work.id))
    key = fire_key(run.task, run.scheduled_for)
    posted = select(Delivery).where(col(Delivery.key).startswith(f"{key}:", autoescape=True))
    return Logged(run, None, list(session.exec(posted)))
