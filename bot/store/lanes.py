"""Who may act on a lane: an epoch that rises at each take-over."""

from collections.abc import Sequence

from sqlalchemy import CursorResult, func, update
from sqlmodel import Session, col, select

from bot.lanes import Lane
from bot.store.states import DeliveryState
from bot.store.tables import Delivery, Inbound
from bot.store.tables import Lane as LaneRow
from bot.store.upsert import add_to


class LostLaneError(Exception):
    """Somebody else has taken the lane over; nothing of this transaction is written."""


def take(session: Session, lane: Lane) -> int:
    """Become the lane's holder and return the new epoch."""
    return add_to(session, LaneRow, "name", lane.name, "epoch", 1)


def hold(session: Session, lane: Lane, epoch: int) -> None:
    """Make sure, until this transaction ends, that the lane is still ours.

    Raises:
        LostLaneError: It is not.
    """
    # An update, not a select: it takes the row's lock on Postgres, so a take-over waits for our commit.
    held = session.execute(
        update(LaneRow).where(col(LaneRow.name) == lane.name, col(LaneRow.epoch) == epoch).values(epoch=epoch)
    )
    assert isinstance(held, CursorResult)
    if held.rowcount != 1:
        raise LostLaneError(lane.name)


def lock(session: Session, lane: Lane) -> None:
    """Keep others out of the lane until this transaction ends, without taking it over."""
    if session.get_bind().dialect.name != "postgresql":
        return  # a writer on SQLite is alone anyway
    add_to(session, LaneRow, "name", lane.name, "epoch", 0)


def epochs(session: Session, names: Sequence[str]) -> dict[str, int]:
    """The current epoch of each lane."""
    rows = session.exec(select(LaneRow.name, LaneRow.epoch).where(col(LaneRow.name).in_(names)))
    return {name: epoch for name, epoch in rows}  # noqa: C416 (rows are not pairs to the type checker)


def open_lanes(session: Session) -> list[Lane]:
    """Every lane that has something to do."""
    inbound = session.exec(
        select(Inbound.lane).where(col(Inbound.done_at).is_(None), col(Inbound.lane).is_not(None)).distinct()
    )
    unsent = col(Delivery.state).in_([DeliveryState.OPEN, DeliveryState.SENDING])
    outbound = session.exec(select(Delivery.lane).where(unsent).distinct())
    return [Lane.parse(name) for name in [*inbound, *outbound] if name is not None]


def open_count(session: Session, lane: Lane) -> int:
    """How many inbound rows of a lane are open."""
    statement = select(func.count()).where(Inbound.lane == lane.name, col(Inbound.done_at).is_(None))
    return session.exec(statement).one()
