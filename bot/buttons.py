"""Buttons: what is shown with an answer, and whether a press counts. The latter is pure."""

import secrets
from dataclasses import dataclass
from datetime import datetime

from bot.store.tables import Action
from channels.messages import InboundMessage

UNKNOWN = "I do not know this button. Please give the command instead."
EXPIRED = "This button is too old. Please give the command again."
USED = "This button was pressed already."
NOT_YOURS = "This button is for somebody else. Please give the command yourself."


@dataclass(frozen=True, slots=True)
class Choice:
    """A button to be: pressing it is the same as writing the command.

    Args:
        label: What people see.
        command: What it stands for, with its slash.
        sender_id: Who may press it; None for everybody who is heard in the chat.
    """

    label: str
    command: str
    sender_id: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a command answers.

    Args:
        text: Markdown. It says all that the buttons do, for channels without any.
        choices: Buttons below it.
    """

    text: str
    choices: tuple[Choice, ...] = ()


def new_action_id() -> str:
    """A random id of 16 characters (96 bits), short enough for every platform."""
    return secrets.token_urlsafe(12)


def misuse(action: Action | None, message: InboundMessage, now: datetime) -> str | None:
    """Why a press does nothing, in a word for whoever pressed; None when it counts."""
    address = message.address
    if action is None or (action.channel, action.account, action.chat_id) != (
        address.channel,
        address.account,
        address.chat_id,
    ):
        return UNKNOWN
    if action.sender_id is not None and action.sender_id != message.sender.id:
        return NOT_YOURS
    if action.used_at is not None:
        return USED
    if now >= action.expires_at:
        return EXPIRED
    return None
