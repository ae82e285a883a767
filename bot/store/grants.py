"""Who was let in."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, update
from sqlmodel import Session, col, select

from bot.config.channels import Role
from bot.store.states import RunState
from bot.store.tables import Grant, Inbound, Run
from bot.store.upsert import insert_once

Account = tuple[str, str]
"""A channel and one of its accounts."""


def role(session: Session, account: Account, user_id: str) -> Role | None:
    """The role that somebody was given, if they were let in."""
    found = session.get(Grant, (*account, user_id))
    return Role(found.role) if found is not None else None


def give(
    session: Session,
    account: Account,
    user_id: str,
    name: str,
    role: Role,
    *,
    granted_by: str,
    approval: str,
    now: datetime,
) -> None:
    """Let somebody in, or give them another role."""
    revoke(session, account, user_id)
    insert_once(
        session,
        Grant,
        {
            "channel": account[0],
            "account": account[1],
            "user_id": user_id,
            "name": name,
            "role": role,
            "granted_by": granted_by,
            "granted_at": now,
            "approval": approval,
        },
    )


def by_approval(session: Session, approval: str) -> Grant | None:
    """What an approval has given already."""
    return session.exec(select(Grant).where(Grant.approval == approval)).first()


def of_accounts(session: Session, accounts: Sequence[Account]) -> list[Grant]:
    """Everybody who was let in on these accounts, the latest last."""
    rows = session.exec(select(Grant).order_by(col(Grant.granted_at), col(Grant.user_id)))
    return [row for row in rows if (row.channel, row.account) in accounts]


def of_user(session: Session, accounts: Sequence[Account], user_id: str) -> list[Grant]:
    """What somebody was given on these accounts."""
    rows = session.exec(select(Grant).where(Grant.user_id == user_id))
    return [row for row in rows if (row.channel, row.account) in accounts]


def revoke(session: Session, account: Account, user_id: str) -> None:
    """Take back what somebody was given; nothing happens if that is nothing."""
    session.execute(
        delete(Grant).where(
            col(Grant.channel) == account[0],
            col(Grant.account) == account[1],
            col(Grant.user_id) == user_id,
        )
    )


def stop_runs_of(session: Session, account: Account, user_id: str, now: datetime) -> list[tuple[str, str]]:
    """Ask the runs of what somebody wrote to stop: their (run id, thread id)."""
    statement = (
        select(Run.id, Run.thread_id)
        .join(Inbound, col(Inbound.id) == col(Run.inbound_id))
        .where(
            Inbound.channel == account[0],
            Inbound.account == account[1],
            Inbound.sender_id == user_id,
            col(Inbound.done_at).is_(None),
            Run.state == RunState.RUNNING,
        )
    )
    found = [(run_id, thread_id) for run_id, thread_id in session.exec(statement)]
    if found:
        ids = [run_id for run_id, _ in found]
        session.execute(update(Run).where(col(Run.id).in_(ids)).values(stop_requested_at=now))
    return found
