"""What was said in one chat."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_
from sqlmodel import Session, col, not_, select

from bot.store.states import InboundKind
from bot.store.tables import Delivery, Inbound
from channels.messages import Address


@dataclass(frozen=True, slots=True)
class Said:
    """Rows of a chat: what people said and what was delivered to it, each in order."""

    inbound: list[Inbound]
    deliveries: list[Delivery]


def latest(session: Session, address: Address, limit: int) -> Said:
    """The last rows of a chat, at most ``limit`` of each kind."""
    people = select(Inbound).where(_said_in(address)).order_by(col(Inbound.id).desc()).limit(limit)
    hart = select(Delivery).where(_sent_to(address)).order_by(col(Delivery.id).desc()).limit(limit)
    return Said(list(session.exec(people))[::-1], list(session.exec(hart))[::-1])


def after(session: Session, address: Address, inbound_id: int, delivery_id: int, limit: int) -> Said:
    """The next rows of a chat after two ids, at most ``limit`` of each kind."""
    people = select(Inbound).where(_said_in(address), col(Inbound.id) > inbound_id)
    hart = select(Delivery).where(_sent_to(address), col(Delivery.id) > delivery_id)
    return Said(
        list(session.exec(people.order_by(col(Inbound.id)).limit(limit))),
        list(session.exec(hart.order_by(col(Delivery.id)).limit(limit))),
    )


def file(session: Session, address: Address, delivery_id: int) -> Delivery | None:
    """A delivery of this chat that is a file."""
    wanted = and_(_sent_to(address), col(Delivery.id) == delivery_id, col(Delivery.file_path).is_not(None))
    return session.exec(select(Delivery).where(wanted)).first()


def _said_in(address: Address) -> ColumnElement[bool]:
    return and_(
        col(Inbound.channel) == address.channel,
        col(Inbound.account) == address.account,
        col(Inbound.chat_id) == address.chat_id,
        col(Inbound.kind).in_([InboundKind.MESSAGE, InboundKind.COMMAND]),
        # ``/new text`` is stored as a command and as its text; people said it once.
        not_(col(Inbound.dedupe_key).endswith(":text")),
    )


def _sent_to(address: Address) -> ColumnElement[bool]:
    return and_(
        col(Delivery.channel) == address.channel,
        col(Delivery.account) == address.account,
        col(Delivery.chat_id) == address.chat_id,
    )
