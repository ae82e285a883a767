"""Threads: whose conversation a message belongs to."""

from datetime import datetime

from sqlalchemy import update
from sqlmodel import Session, col, select

from bot.store.states import RunState
from bot.store.tables import Inbound, Run, Thread
from bot.store.upsert import insert_once

TASK_KEY = "task:"
"""How the keys of threads begin that are those of single runs of tasks."""


def current(session: Session, key: str) -> Thread | None:
    """The latest generation under a key."""
    statement = select(Thread).where(Thread.key == key).order_by(col(Thread.generation).desc()).limit(1)
    return session.exec(statement).first()


def generations(session: Session, key: str) -> list[Thread]:
    """All threads of a key, the latest first."""
    return list(session.exec(select(Thread).where(Thread.key == key).order_by(col(Thread.generation).desc())))


def continued(session: Session, thread_id: str) -> Thread | None:
    """The thread of a task's run, for whoever answers what it posted; None for any other thread."""
    found = session.get(Thread, thread_id)
    return found if found is not None and found.key.startswith(TASK_KEY) else None


def fork(session: Session, thread: Thread, key: str, opened_by: str, new_id: str, now: datetime) -> Thread:
    """The current thread of a key, which goes on from where another stands."""
    found = resolve(session, key, opened_by, new_id, now)
    if found.forked_from is None:
        found.forked_from, found.model, found.mode = thread.id, thread.model, thread.mode
        session.add(found)
    return found


def resolve(session: Session, key: str, opened_by: str, new_id: str, now: datetime) -> Thread:
    """The current thread of a key, opened if there is none; simultaneous callers get the same one."""
    found = current(session, key)
    if found is None:
        insert_once(session, Thread, _values(key, 1, opened_by, new_id, now))
        found = current(session, key)
    assert found is not None
    return found


def open_next(session: Session, key: str, opened_by: str, new_id: str, now: datetime) -> Thread:
    """Open the next generation of a key; a second call with the same ``opened_by`` returns the first's.

    The new thread keeps the model and the mode chosen in the old one.
    """
    while True:
        done = by_opener(session, opened_by)
        if done is not None:
            return done
        latest = current(session, key)
        generation = latest.generation + 1 if latest else 1
        kept = {"model": latest.model, "mode": latest.mode} if latest else {}
        insert_once(session, Thread, {**_values(key, generation, opened_by, new_id, now), **kept})


def by_opener(session: Session, opened_by: str) -> Thread | None:
    """The thread that a message or command opened."""
    return session.exec(select(Thread).where(Thread.opened_by == opened_by)).first()


def get(session: Session, thread_id: str) -> Thread:
    """A thread by its id."""
    return session.exec(select(Thread).where(Thread.id == thread_id)).one()


def with_earlier(session: Session, thread_id: str) -> list[Thread]:
    """A thread and the generations before it that have something open, latest first."""
    thread = get(session, thread_id)
    has_open = select(Inbound.id).where(Inbound.thread_id == Thread.id, col(Inbound.done_at).is_(None))
    earlier = select(Thread).where(
        Thread.key == thread.key, col(Thread.generation) < thread.generation, has_open.exists()
    )
    return [thread, *session.exec(earlier.order_by(col(Thread.generation).desc()))]


def set_model(session: Session, thread_id: str, model: str) -> None:
    """Choose the model of a thread, from its next run on."""
    session.execute(update(Thread).where(col(Thread.id) == thread_id).values(model=model))


def set_mode(session: Session, thread_id: str, mode: str) -> None:
    """Choose the mode of a thread, from its next run on."""
    session.execute(update(Thread).where(col(Thread.id) == thread_id).values(mode=mode))


def running(session: Session, thread_id: str) -> Run | None:
    """The run a thread is busy with, if any."""
    return session.exec(select(Run).where(Run.thread_id == thread_id, Run.state == RunState.RUNNING)).first()


def _values(key: str, generation: int, opened_by: str, new_id: str, now: datetime) -> dict[str, object]:
    return {
        "id": new_id,
        "key": key,
        "generation": generation,
        "opened_by": opened_by,
        "created_at": now,
    }
