"""A Telegram of our own: the Bot API over real HTTP, with people to write and faults to survive."""

from tests.emulators.telegram.faults import (
    DropAfter,
    DropBefore,
    Hang,
    RawAnswer,
    Refuse,
    Slow,
    bad_gateway,
    too_many,
)
from tests.emulators.telegram.server import BOT, TOKEN, TelegramEmulator
from tests.emulators.telegram.world import Chat, Sent, User

__all__ = [
    "BOT",
    "TOKEN",
    "Chat",
    "DropAfter",
    "DropBefore",
    "Hang",
    "RawAnswer",
    "Refuse",
    "Sent",
    "Slow",
    "TelegramEmulator",
    "User",
    "bad_gateway",
    "too_many",
]
