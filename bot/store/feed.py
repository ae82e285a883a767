"""What was said in one chat."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_
from sqlmodel import Session, col, not_, select

from bot.messages import load_message
from bot.store.states import InboundKind, RunState
from bot.store.tables import Delivery, Inbound, Run
from channels.messages import Address, Attachment


@dataclass(frozen=True, slots=True)
class Said:
    """Rows of a chat: what people said and what was delivered to it, each in order.

    Args:
        inbound: What people said.
        deliveries: What was delivered.
        failed: Ids of the runs behind the deliveries that gave no answer.
    """

    inbound: list[Inbound]
    deliveries: list[Delivery]
    failed: frozenset[str]


def latest(session: Session, address: Address, limit: int) -> Said:
    """The last rows of a chat, at most ``limit`` of each kind."""
    people = select(Inbound).where(_said_in(address)).order_by(col(Inbound.id).desc()).limit(limit)
    hart = select(Delivery).where(_sent_to(address)).order_by(col(Delivery.id).desc()).limit(limit)
    return _said(session, list(session.exec(people))[::-1], list(session.exec(hart))[::-1])


def after(session: Session, address: Address, inbound_id: int, delivery_id: int, limit: int) -> Said:
    """The next rows of a chat after two ids, at most ``limit`` of each kind."""
    people = select(Inbound).where(_said_in(address), col(Inbound.id) > inbound_id)
    hart = select(Delivery).where(_sent_to(address), col(Delivery.id) > delivery_id)
    return _said(
        session,
        list(session.exec(people.order_by(col(Inbound.id)).limit(limit))),
        list(session.exec(hart.order_by(col(Delivery.id)).limit(limit))),
    )


def _said(session: Session, inbound: list[Inbound], deliveries: list[Delivery]) -> Said:
    run_ids = {row.run_id for row in deliveries if row.run_id is not None}
    unanswered = col(Run.state).in_([RunState.FAILED, RunState.SET_ASIDE])
    failed = session.exec(select(Run.id).where(col(Run.id).in_(run_ids), unanswered))
    return Said(inbound, deliveries, frozenset(failed))


def attachment(session: Session, address: Address, inbound_id: int, place: int) -> Attachment | None:
    """A file that a person sent to this chat, by the row it came with and its place there."""
    row = session.exec(select(Inbound).where(_said_in(address), col(Inbound.id) == inbound_id)).first()
    files = load_message(row.body).attachments if row is not None else ()
    return files[place] if place < len(files) else None


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
