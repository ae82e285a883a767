"""What goes out: written with what it answers, sent in order per chat."""

import json
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import update
from sqlmodel import Session, col, select

from bot.drafts import Draft
from bot.lanes import Lane, chat_lane
from bot.messages import dump_buttons, storable
from bot.store import lanes as lane_rows
from bot.store.states import DeliveryState
from bot.store.tables import Delivery, Run
from bot.store.upsert import insert_once
from channels.messages import Address


def add(session: Session, drafts: Sequence[Draft], now: datetime, run_id: str | None = None) -> set[Lane]:
    """Write deliveries and return the lanes to wake."""
    lanes: set[Lane] = set()
    # Writers of one chat go one after the other, so that ids become visible in their order; everyone locks
    # several chats in the same order, so that no two wait for each other.
    for lane in sorted({chat_lane(draft.address) for draft in drafts}, key=lambda one: one.name):
        lane_rows.lock(session, lane)
    for draft in drafts:
        lane = chat_lane(draft.address)
        file = draft.file
        values = {
            "key": draft.key,
            "lane": lane.name,
            "run_id": run_id,
            "channel": draft.address.channel,
            "account": draft.address.account,
            "chat_id": draft.address.chat_id,
            "platform_thread": draft.address.platform_thread,
            "in_reply_to": draft.in_reply_to,
            "quote": draft.quote,
            "final": draft.final,
            "text": None if draft.text is None else storable(draft.text),
            "buttons": dump_buttons(draft.buttons) if draft.buttons else None,
            "pairing_id": draft.pairing_id,
            "reply_via": draft.reply_via,
            "file_path": file.path if file else None,
            "file_name": storable(file.name) if file else None,
            "file_mime": file.mime if file else None,
            "file_size": file.size if file else None,
            "state": DeliveryState.OPEN,
            "attempts": 0,
            "possible_repeat": False,
            "created_at": now,
        }
        if insert_once(session, Delivery, values):
            lanes.add(lane)
    return lanes


def known(session: Session, key: str) -> bool:
    """Whether something was, or is to be, posted under a key."""
    return session.exec(select(Delivery.id).where(Delivery.key == key)).first() is not None


def first_unsent(session: Session, lane: Lane) -> Delivery | None:
    """The oldest delivery of a chat that is not settled."""
    unsent = col(Delivery.state).in_([DeliveryState.OPEN, DeliveryState.SENDING])
    statement = select(Delivery).where(unsent, Delivery.lane == lane.name)
    return session.exec(statement.order_by(col(Delivery.id)).limit(1)).first()


def mark_sending(session: Session, delivery: Delivery, repeat: bool, now: datetime) -> None:
    """Note that a try begins; from here to the next mark nobody knows whether it arrived."""
    delivery.state = DeliveryState.SENDING
    delivery.attempts += 1
    delivery.possible_repeat = repeat
    delivery.unsettled_since = delivery.unsettled_since or now
    assert delivery.id is not None
    _set(
        session,
        delivery.id,
        state=delivery.state,
        attempts=delivery.attempts,
        possible_repeat=repeat,
        unsettled_since=delivery.unsettled_since,
    )


def mark_sent(session: Session, delivery_id: int, receipt: str, now: datetime) -> None:
    """Note the platform's receipt."""
    _set(
        session,
        delivery_id,
        state=DeliveryState.SENT,
        receipt=receipt,
        sent_at=now,
        error=None,
        reply_via=None,
    )


def mark_failed(session: Session, delivery_id: int, error: str) -> None:
    """Give a delivery up."""
    _set(
        session,
        delivery_id,
        state=DeliveryState.FAILED,
        error=storable(error),
        sent_at=None,
        not_before=None,
        reply_via=None,
    )


def mark_replaced(session: Session, delivery_id: int, error: str, text: str) -> None:
    """Have a text sent in the place of a file that was refused, and so reached nobody."""
    _set(
        session,
        delivery_id,
        state=DeliveryState.OPEN,
        error=storable(error),
        text=storable(text),
        file_path=None,
        not_before=None,
        possible_repeat=False,
        unsettled_since=None,
    )


def mark_unsure(session: Session, delivery_id: int, error: str, not_before: datetime) -> None:
    """Try again later, after a try that may have reached people."""
    _set(session, delivery_id, state=DeliveryState.SENDING, error=storable(error), not_before=not_before)


def mark_unsent(
    session: Session, delivery_id: int, error: str, not_before: datetime, unsettled_since: datetime | None
) -> None:
    """Try again later, after a try that surely reached nobody.

    Args:
        session: The unit of work.
        delivery_id: Which.
        error: Why.
        not_before: When to try again.
        unsettled_since: The first of the tries before that may have reached people, if there was one.
    """
    _set(
        session,
        delivery_id,
        state=DeliveryState.OPEN,
        error=storable(error),
        not_before=not_before,
        unsettled_since=unsettled_since,
    )


def is_open(delivery: Delivery) -> bool:
    """Whether a delivery is still to be sent or settled."""
    return delivery.state in (DeliveryState.OPEN, DeliveryState.SENDING)


def for_run(session: Session, run_id: str) -> list[Delivery]:
    """A run's deliveries in order."""
    return list(session.exec(select(Delivery).where(Delivery.run_id == run_id).order_by(col(Delivery.id))))


def with_button(session: Session, address: Address, action_id: str) -> Delivery | None:
    """The delivery to a chat that has a button, by the button's id."""
    statement = select(Delivery).where(
        Delivery.channel == address.channel,
        Delivery.account == address.account,
        Delivery.chat_id == address.chat_id,
        col(Delivery.buttons).contains(json.dumps(action_id), autoescape=True),
    )
    return session.exec(statement.order_by(col(Delivery.id).desc()).limit(1)).first()


def thread_posted(session: Session, address: Address, message_id: str) -> str | None:
    """The thread of the run that posted a message of a chat, if a run did."""
    statement = (
        select(Run.thread_id)
        .join(Delivery, col(Delivery.run_id) == col(Run.id))
        .where(
            Delivery.channel == address.channel,
            Delivery.account == address.account,
            Delivery.chat_id == address.chat_id,
            Delivery.receipt == message_id,
        )
    )
    return session.exec(statement.limit(1)).first()


def chats_of_thread(session: Session, thread_id: str) -> int:
    """In how many chats something of a thread's runs was, or is to be, posted."""
    lanes = select(Delivery.lane).join(Run, col(Run.id) == col(Delivery.run_id))
    return len(session.exec(lanes.where(Run.thread_id == thread_id).distinct()).all())


def posted_to(session: Session, address: Address) -> bool:
    """Whether something was, or is to be, posted to a thread or topic of a platform."""
    statement = select(Delivery.id).where(
        Delivery.channel == address.channel,
        Delivery.account == address.account,
        Delivery.chat_id == address.chat_id,
        Delivery.platform_thread == address.platform_thread,
        col(Delivery.platform_thread).is_not(None),
    )
    return session.exec(statement.limit(1)).first() is not None


def _set(session: Session, delivery_id: int, **values: object) -> None:
    session.execute(update(Delivery).where(col(Delivery.id) == delivery_id).values(**values))
