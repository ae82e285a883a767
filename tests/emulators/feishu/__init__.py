"""A Feishu of our own: the open platform over real HTTP and WebSocket, with people and faults."""

from tests.emulators.feishu.faults import (
    DropAfter,
    DropBefore,
    Fault,
    Hang,
    RawAnswer,
    Refuse,
    Slow,
    bad_gateway,
    too_many,
)
from tests.emulators.feishu.server import APP_ID, APP_SECRET, FeishuEmulator
from tests.emulators.feishu.world import Chat, Delivery, Sent, User

__all__ = [
    "APP_ID",
    "APP_SECRET",
    "Chat",
    "Delivery",
    "DropAfter",
    "DropBefore",
    "Fault",
    "FeishuEmulator",
    "Hang",
    "RawAnswer",
    "Refuse",
    "Sent",
    "Slow",
    "User",
    "bad_gateway",
    "too_many",
]
