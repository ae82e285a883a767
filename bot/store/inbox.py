"""What came in, stored once."""

import logging
from collections.abc import Sequence
from datetime import datetime

from pydantic import ValidationError
from sqlalchemy import update
from sqlmodel import Session, col, select

from bot.lanes import Lane
from bot.messages import dump_addresses, dump_message, load_message
from bot.store.states import InboundKind
from bot.store.tables import Inbound, User
from bot.store.upsert import insert_once
from channels.messages import Address, InboundMessage

log = logging.getLogger(__name__)


def add(
    session: Session,
    message: InboundMessage,
    kind: InboundKind,
    now: datetime,
    *,
    lane: Lane,
    thread_id: str | None,
    targets: Sequence[Address] = (),
) -> bool:
    """Store a message that somebody will work on; False if its dedupe key is known already."""
    return insert_once(
        session,
        Inbound,
        {
            **_content(message),
            "kind": kind,
            "lane": lane.name,
            "thread_id": thread_id,
            "targets": dump_addresses(targets) if targets else None,
            "received_at": now,
        },
    )


def hold(session: Session, message: InboundMessage, now: datetime) -> bool:
    """Store a part in no lane, for :mod:`bot.store.parts`; False if its dedupe key is known already."""
    values = {**_content(message), "kind": InboundKind.HELD, "received_at": now}
    return insert_once(session, Inbound, values)


def add_closed(
    session: Session,
    address: Address,
    dedupe_key: str,
    kind: InboundKind,
    now: datetime,
    *,
    note: str,
    body: str = "",
    sender_id: str = "",
) -> bool:
    """Record something that nobody will work on, and why; False if it is recorded already."""
    return insert_once(
        session,
        Inbound,
        {
            "dedupe_key": dedupe_key,
            "kind": kind,
            **_origin(address),
            "sender_id": sender_id,
            "message_id": "",
            "text": "",
            "body": body,
            "note": note,
            "received_at": now,
            "done_at": now,
        },
    )


def known(session: Session, dedupe_key: str) -> bool:
    """Whether this was stored before."""
    return session.exec(select(Inbound.id).where(Inbound.dedupe_key == dedupe_key)).first() is not None


def by_key(session: Session, dedupe_key: str) -> Inbound:
    """The row of a dedupe key."""
    return session.exec(select(Inbound).where(Inbound.dedupe_key == dedupe_key)).one()


def refused_since(session: Session, address: Address, sender_id: str, since: datetime) -> bool:
    """Whether a sender was told that they have no access, since a time."""
    statement = select(Inbound.id).where(
        Inbound.channel == address.channel,
        Inbound.account == address.account,
        Inbound.chat_id == address.chat_id,
        Inbound.sender_id == sender_id,
        Inbound.kind == InboundKind.REFUSED,
        col(Inbound.received_at) >= since,
    )
    return session.exec(statement.limit(1)).first() is not None


def first_open(session: Session, lane: Lane) -> Inbound | None:
    """The oldest open row of a lane."""
    statement = select(Inbound).where(col(Inbound.done_at).is_(None), Inbound.lane == lane.name)
    return session.exec(statement.order_by(col(Inbound.id)).limit(1)).first()


def first_readable(session: Session, lane: Lane, now: datetime) -> Inbound | None:
    """The oldest open row of a lane; rows that this version cannot read are closed on the way."""
    while (row := first_open(session, lane)) is not None:
        if read(row) is not None:
            return row
        assert row.id is not None
        close(session, row.id, now, note="unreadable")
    return None


def read(row: Inbound) -> InboundMessage | None:
    """The message of a row; None if this version cannot read it."""
    try:
        return load_message(row.body, row.text)
    except ValidationError:
        log.error("inbound %d cannot be read and is skipped", row.id)
        return None


def close(session: Session, inbound_id: int, now: datetime, note: str | None = None) -> None:
    """Mark a row as done."""
    session.execute(update(Inbound).where(col(Inbound.id) == inbound_id).values(done_at=now, note=note))


def redact(session: Session, inbound_id: int, message: InboundMessage) -> None:
    """Put a message in the place of what came, without what nobody shall read again."""
    kept = update(Inbound).where(col(Inbound.id) == inbound_id)
    session.execute(kept.values(text=message.text, body=dump_message(message)))


def remember_sender(session: Session, message: InboundMessage, now: datetime) -> None:
    """Keep who has written to us."""
    insert_once(
        session,
        User,
        {
            "channel": message.address.channel,
            "account": message.address.account,
            "platform_id": message.sender.id,
            "name": message.sender.name,
            "first_seen_at": now,
        },
    )


def _content(message: InboundMessage) -> dict[str, str | None]:
    return {
        "dedupe_key": message.dedupe_key,
        **_origin(message.address),
        "sender_id": message.sender.id,
        "message_id": message.message_id,
        "text": message.text,
        "body": dump_message(message),
        "part_of": message.part_of,
    }


def _origin(address: Address) -> dict[str, str | None]:
    return {
        "channel": address.channel,
        "account": address.account,
        "chat_id": address.chat_id,
        "platform_thread": address.platform_thread,
    }
