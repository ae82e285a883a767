"""Buttons: commands that wait to be given by pressing them."""

from datetime import datetime, timedelta

from sqlalchemy import delete, update
from sqlmodel import Session, col, select

from bot.store.tables import Action
from channels.messages import Address

GOOD_FOR = timedelta(hours=24)
"""How long a button can be pressed. It is remembered as long again, to say that it is too late."""


def add(
    session: Session, action_id: str, command: str, address: Address, sender_id: str | None, now: datetime
) -> None:
    """Make a button.

    Args:
        session: The unit of work.
        action_id: Its id; must be hard to guess.
        command: The command that pressing it gives.
        address: Where it is shown.
        sender_id: Who may press it; None for everybody who is heard there.
        now: When.
    """
    session.execute(delete(Action).where(col(Action.expires_at) < now - GOOD_FOR))
    session.add(
        Action(
            id=action_id,
            command=command,
            channel=address.channel,
            account=address.account,
            chat_id=address.chat_id,
            sender_id=sender_id,
            created_at=now,
            expires_at=now + GOOD_FOR,
        )
    )


def find(session: Session, action_id: str) -> Action | None:
    """A button, kept from being pressed by others until this transaction ends."""
    return session.exec(select(Action).where(Action.id == action_id).with_for_update()).first()


def use(session: Session, action_id: str, sender_id: str, now: datetime) -> None:
    """Note that a button was pressed."""
    pressed = update(Action).where(col(Action.id) == action_id)
    session.execute(pressed.values(used_at=now, used_by=sender_id))
