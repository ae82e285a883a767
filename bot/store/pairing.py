"""Strangers who wait to be let in, and who tried wrong codes."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import CursorResult, delete, update
from sqlmodel import Session, col, select

from bot.codes import KeptCode
from bot.store.grants import Account
from bot.store.states import DeliveryState
from bot.store.tables import Delivery, Lockout, PairingRequest
from bot.store.upsert import insert_once
from channels.messages import InboundMessage

PENDING_MAX = 3
"""Strangers who may wait on one account; with one more, the one who asked first gives way."""

GOOD_FOR = timedelta(hours=1)
"""How long a request waits, and how long a code is good."""

TRIES = 5
"""Wrong codes before an approver is locked out."""

LOCKED_FOR = timedelta(hours=1)
"""How long an approver is locked out, and how long a wrong code counts."""


def line_up(session: Session, account: Account) -> None:
    """Have strangers of one account served one after the other, until this transaction ends."""
    _row(session, "/".join(("requests", *account)))


def request(
    session: Session, message: InboundMessage, request_id: str, now: datetime
) -> list[PairingRequest]:
    """Have a stranger wait to be let in; returns who had to give way to them.

    The one who asked first gives way. Were newcomers turned away instead, three who ask again every hour
    would keep everybody else out.
    """
    account = (message.address.channel, message.address.account)
    line_up(session, account)
    _forget(session, account, message.sender.id)
    waiting = pending(session, [account], now)
    displaced = [one for one in waiting[: len(waiting) - PENDING_MAX + 1] if take(session, one.id)]
    session.add(
        PairingRequest(
            id=request_id,
            channel=message.address.channel,
            account=message.address.account,
            user_id=message.sender.id,
            chat_id=message.address.chat_id,
            platform_thread=message.address.platform_thread,
            name=message.sender.name,
            created_at=now,
        )
    )
    session.flush()
    return displaced


def retell(session: Session, request_id: str, text: str) -> None:
    """Say something else instead of a code that was not sent yet."""
    statement = (
        update(Delivery)
        .where(
            col(Delivery.pairing_id) == request_id,
            col(Delivery.state).in_([DeliveryState.OPEN, DeliveryState.SENDING]),
        )
        .values(pairing_id=None, text=text)
    )
    session.execute(statement)


def give_code(session: Session, request_id: str, code: KeptCode, now: datetime) -> bool:
    """Note what is known of a request's code, in place of an earlier one; False when the request is gone."""
    statement = (
        update(PairingRequest)
        .where(col(PairingRequest.id) == request_id)
        .values(salt=code.salt, code_hash=code.digest, code_at=now)
    )
    done = session.execute(statement)
    assert isinstance(done, CursorResult)
    return done.rowcount == 1


def pending(session: Session, accounts: Sequence[Account], now: datetime) -> list[PairingRequest]:
    """Who waits on these accounts, the first one first. Those who have waited too long are removed."""
    rows = session.exec(select(PairingRequest).order_by(col(PairingRequest.created_at))).all()
    waiting = []
    for row in rows:
        if now - (row.code_at or row.created_at) >= GOOD_FOR:
            session.delete(row)
        elif (row.channel, row.account) in accounts:
            waiting.append(row)
    session.flush()
    return waiting


def take(session: Session, request_id: str) -> bool:
    """Take a request out of the line; False when somebody else just did."""
    done = session.execute(delete(PairingRequest).where(col(PairingRequest.id) == request_id))
    assert isinstance(done, CursorResult)
    return done.rowcount == 1


def locked_until(session: Session, approver: str, now: datetime) -> datetime | None:
    """Until when an approver is locked out, if they are. Keeps others of the same name waiting."""
    row = _row(session, f"approver/{approver}")
    return row.locked_until if row.locked_until is not None and row.locked_until > now else None


def failed(session: Session, approver: str, now: datetime) -> int:
    """Count a wrong code; returns how many tries are left."""
    row = _row(session, f"approver/{approver}")
    if row.first_failed_at is None or now - row.first_failed_at >= LOCKED_FOR:
        row.failures, row.first_failed_at = 0, now
    row.failures += 1
    left = max(0, TRIES - row.failures)
    if left == 0:
        row.failures, row.first_failed_at, row.locked_until = 0, None, now + LOCKED_FOR
    session.add(row)
    return left


def succeeded(session: Session, approver: str) -> None:
    """Forget an approver's wrong codes."""
    row = _row(session, f"approver/{approver}")
    row.failures, row.first_failed_at = 0, None
    session.add(row)


def _forget(session: Session, account: Account, user_id: str) -> None:
    session.execute(
        delete(PairingRequest).where(
            col(PairingRequest.channel) == account[0],
            col(PairingRequest.account) == account[1],
            col(PairingRequest.user_id) == user_id,
        )
    )


def _row(session: Session, key: str) -> Lockout:
    """A row of our own, locked until this transaction ends."""
    insert_once(session, Lockout, {"key": key, "failures": 0})
    return session.exec(select(Lockout).where(Lockout.key == key).with_for_update()).one()
