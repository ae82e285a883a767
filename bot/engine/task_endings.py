"""What follows from the end of a run that a task made."""

from collections.abc import Callable
from datetime import datetime

from sqlmodel import Session

from bot.drafts import Draft
from bot.lanes import Lane, chat_lane
from bot.store import outbox, task_runs, tasks
from bot.store.runs import Closing, Turn
from bot.store.states import RunState
from bot.store.tables import Delivery, TaskRun
from bot.store.tasks import Found
from bot.task_kinds import TaskRunState, TaskState
from bot.task_words import failing, recovered, switched_off, undelivered
from channels.messages import Address
from scheduler.health import Health, Outcome, after_failure, after_success, retry_delay
from scheduler.silence import is_silent

Split = Callable[[Address, str], list[str]]

SILENT = "silent"
EMPTY = "empty"

_FAILED = (RunState.FAILED, RunState.SET_ASIDE)


def suppression(turn: Turn, answer: str, *, files: bool) -> str | None:
    """Why nobody is to get the answer of a task that went well; None when people are. Pure."""
    if turn.task is None or not turn.task.quiet or files:
        return None
    if not answer.strip():
        return EMPTY
    return SILENT if is_silent(answer) else None


def posts_ending(turn: Turn, state: RunState) -> bool:
    """Whether the chats are told how a run ended that gave no result. Pure.

    Of a task only when somebody asked for the run: else it is tried again, and its owner is told.
    """
    return turn.task is None or turn.task.by_hand or state is RunState.DONE


def settle(session: Session, turn: Turn, closing: Closing, now: datetime, split: Split) -> set[Lane]:
    """Note how an occurrence went, in the transaction that closes its run; returns the lanes to wake."""
    run = task_runs.by_inbound(session, turn.inbound_id)
    if turn.task is None or run is None:
        return set()
    row = tasks.lock(session, turn.task.name)
    found = tasks.find(session, turn.task.name)
    run.suppressed, run.finished_at = closing.suppressed, now
    session.add(run)
    if closing.state == RunState.STOPPED:
        run.state = TaskRunState.STOPPED
        return set()
    if closing.state not in _FAILED:
        run.state, run.note = TaskRunState.DONE, None
    else:
        run.state, run.note = TaskRunState.FAILED, closing.error
    if turn.task.by_hand or row is None or found is None:
        return set()
    if closing.state in _FAILED:
        return _failed(session, found, run, turn, closing, now, split)
    outcome = after_success(_health(found))
    _remember(session, found, outcome)
    if found.spec.at is not None:
        tasks.set_state(session, found.row.name, TaskState.DONE)
    if not outcome.recovered:
        return set()
    return _tell(session, found, f"recovered:{turn.run_id}", recovered(*_called(found)), now, split)


def tell_undelivered(
    session: Session, delivery: Delivery, error: str, now: datetime, split: Split
) -> set[Lane]:
    """Tell the owner of a task, elsewhere and once, that a chat does not take its result."""
    run = None if delivery.run_id is None else task_runs.by_run(session, delivery.run_id)
    found = None if run is None else tasks.find(session, run.task)
    if found is None or chat_lane(found.home).name == delivery.lane:
        return set()
    place = f"{delivery.channel} {delivery.chat_id}"
    words = undelivered(*_called(found), place, error)
    return _tell(session, found, f"undelivered:{delivery.run_id}:{delivery.lane}", words, now, split)


def _failed(
    session: Session, found: Found, run: TaskRun, turn: Turn, closing: Closing, now: datetime, split: Split
) -> set[Lane]:
    wait = retry_delay(run.tries, found.spec.retries)
    outcome = after_failure(_health(found), now, given_up=wait is None)
    reason = _reason(closing)
    if wait is not None and not outcome.disable:
        run.state, run.retry_at, run.finished_at = TaskRunState.WAITING, now + wait, None
    _remember(session, found, outcome)
    if outcome.disable or (wait is None and found.spec.at is not None):
        tasks.set_state(session, found.row.name, TaskState.DISABLED, reason)
    if outcome.disable:
        words = switched_off(*_called(found), reason)
    elif outcome.alert:
        words = failing(*_called(found), outcome.health.failures, reason, run.retry_at, found.spec.zone)
    else:
        return set()
    return _tell(session, found, f"failing:{turn.run_id}", words, now, split)


def _reason(closing: Closing) -> str:
    """What went wrong, in the words for people."""
    return closing.answer.strip() or "something went wrong."


def _called(found: Found) -> tuple[str, str]:
    return found.row.name, found.spec.title


def _health(found: Found) -> Health:
    return Health(found.row.failures, found.row.alerted_at)


def _remember(session: Session, found: Found, outcome: Outcome) -> None:
    tasks.set_health(session, found.row.name, outcome.health.failures, outcome.health.alerted_at)


def _tell(session: Session, found: Found, key: str, words: str, now: datetime, split: Split) -> set[Lane]:
    home = found.home
    drafts = [
        Draft(key=f"{key}:{number}", address=home, text=piece)
        for number, piece in enumerate(split(home, words))
    ]
    return outbox.add(session, drafts, now)
