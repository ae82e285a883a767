"""The time zones that people and chats have chosen."""

from sqlmodel import Session

from bot.lanes import chat_key, escape_part
from bot.store.tables import Zone
from channels.messages import Address


def person(address: Address, sender_id: str) -> str:
    """The key of a person on one account."""
    parts = (address.channel, address.account, sender_id)
    return f"person:{'/'.join(escape_part(part) for part in parts)}"


def chat(address: Address) -> str:
    """The key of a chat."""
    return f"chat:{chat_key(address)}"


def get(session: Session, key: str) -> str | None:
    """The zone of a key, if one was chosen."""
    found = session.get(Zone, key)
    return None if found is None else found.zone


def put(session: Session, key: str, zone: str | None) -> None:
    """Choose a zone, or none."""
    found = session.get(Zone, key)
    if zone is None:
        if found is not None:
            session.delete(found)
        return
    session.add(Zone(key=key, zone=zone) if found is None else _changed(found, zone))


def _changed(row: Zone, zone: str) -> Zone:
    row.zone = zone
    return row
