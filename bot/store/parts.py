"""What was sent as one and came in several messages, such as an album: one turn.

Each part is a row of its own, stored and acknowledged by itself. The run of the first one takes all that
are there once no other has come for a moment, and remembers which, so that every attempt has the same ones.
A part that comes later is a turn of its own.

In a group, whoever sends several files as one can address us in one part only, and others may come before
it. Those are held, in no lane; the run of the part that addresses us takes them too. If none does, they are
forgotten.
"""

from datetime import datetime, timedelta

from sqlalchemy import and_, delete, or_, update
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, exists, select

from bot.store.states import InboundKind
from bot.store.tables import Inbound

QUIET = timedelta(seconds=1)
"""How long after a part no other must have come for it to be the last."""

CATCHING_UP = timedelta(seconds=5)
"""How long after a start the parts that came before it wait for those that did not get in any more."""

HELD_FOR = timedelta(minutes=1)
"""How long a part is held for one that addresses us."""


def is_heard(session: Session, part_of: str) -> bool:
    """Whether a message that this is a part of was let in already."""
    heard = select(Inbound.id).where(Inbound.part_of == part_of, Inbound.kind == InboundKind.MESSAGE)
    return session.exec(heard.limit(1)).first() is not None


def join(session: Session, first: Inbound, started: datetime, now: datetime) -> list[Inbound] | datetime:
    """The parts that the run of a row takes, itself included, in order; or the time when to ask again.

    Args:
        session: The unit of work.
        first: The oldest open row of its lane.
        started: Since when this process has been at work.
        now: The time.
    """
    if first.part_of is None:
        return [first]
    ours = select(Inbound).where(Inbound.part_of == first.part_of).order_by(col(Inbound.id))
    if first.joined_to is not None:
        return list(session.exec(ours.where(Inbound.joined_to == first.joined_to)))
    with_us = and_(col(Inbound.lane) == first.lane, col(Inbound.kind) == first.kind)
    held = col(Inbound.kind) == InboundKind.HELD
    free = ours.where(col(Inbound.done_at).is_(None), col(Inbound.joined_to).is_(None))
    parts = list(session.exec(free.where(or_(with_us, held))))
    whole_at = _whole_at(max(part.received_at for part in parts), started)
    if whole_at > now:
        return whole_at
    for part in parts:
        part.joined_to = first.id
        session.add(part)
    return parts


def _whole_at(newest: datetime, started: datetime) -> datetime:
    """When no further part is to be expected."""
    quiet = newest + QUIET
    return quiet if newest >= started else max(quiet, started + CATCHING_UP)


def close(session: Session, first: int, part_of: str, thread_id: str, now: datetime) -> None:
    """Mark all parts that a run took as done, and as messages of its thread."""
    session.execute(
        update(Inbound)
        .where(col(Inbound.part_of) == part_of, col(Inbound.joined_to) == first)
        .values(kind=InboundKind.MESSAGE, thread_id=thread_id, done_at=now)
    )


def forget_held(session: Session, now: datetime) -> None:
    """Delete what was held long enough, and what nobody will take."""
    other = aliased(Inbound)
    taken = exists().where(
        col(other.part_of) == col(Inbound.part_of),
        col(other.kind) == InboundKind.MESSAGE,
        col(other.done_at).is_(None),
    )
    session.execute(
        delete(Inbound).where(
            col(Inbound.done_at).is_(None),
            col(Inbound.lane).is_(None),
            col(Inbound.kind) == InboundKind.HELD,
            col(Inbound.received_at) < now - HELD_FOR,
            ~taken,
        )
    )
