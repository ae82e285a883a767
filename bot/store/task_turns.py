"""What a turn that a task made has to heed."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlmodel import Session, col, select

from bot.store.tables import Task, TaskRun
from bot.task_kinds import TaskKind, Trigger
from bot.task_spec import load_spec


@dataclass(frozen=True, slots=True)
class TaskTurn:
    """The occurrence of a task that a turn works on, and the rules of the task.

    Args:
        name: The task.
        title: What people call it.
        scheduled_for: The occurrence.
        by_hand: Somebody asked for it, and it was not the schedule.
        quiet: Nothing is posted when there is nothing to report.
        progress: Show what it is doing.
        timeout: The longest that it may take.
        token_budget: Tokens that it may use; None for what holds for all.
    """

    name: str
    title: str
    scheduled_for: datetime
    by_hand: bool
    quiet: bool
    progress: bool
    timeout: timedelta
    token_budget: int | None


def task_turn(session: Session, inbound_id: int) -> TaskTurn | None:
    """The occurrence that a message was made for, if there is one."""
    made = select(TaskRun, Task).join(Task, col(Task.name) == TaskRun.task)
    found = session.exec(made.where(TaskRun.inbound_id == inbound_id)).first()
    if found is None:
        return None
    run, task = found
    spec = load_spec(task.spec)
    quiet = spec.quiet or spec.kind is TaskKind.HEARTBEAT
    return TaskTurn(
        name=task.name,
        title=spec.title,
        scheduled_for=run.scheduled_for,
        by_hand=run.trigger == Trigger.MANUAL,
        quiet=quiet,
        # A run of which people may never hear must not begin with a word.
        progress=spec.progress and not quiet,
        timeout=spec.timeout,
        token_budget=spec.token_budget,
    )
