"""Time and identity, injected so that tests can move the one and foretell the other."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """The current time, aware, in UTC."""
    return datetime.now(UTC)


def new_id() -> str:
    """A fresh id: 32 hexadecimal digits."""
    return uuid.uuid4().hex
