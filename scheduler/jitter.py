"""Spreading out what would begin in the same moment. Pure: every node comes to the same delay."""

import hashlib
from datetime import datetime, timedelta


def delay(name: str, scheduled_for: datetime, jitter: timedelta) -> timedelta:
    """How much later than scheduled an occurrence begins: from nothing up to the jitter, in whole seconds.

    Args:
        name: The task.
        scheduled_for: The occurrence (aware).
        jitter: The longest delay.
    """
    seconds = int(jitter.total_seconds())
    if seconds <= 0:
        return timedelta(0)
    digest = hashlib.sha256(f"{name}@{int(scheduled_for.timestamp())}".encode()).digest()
    return timedelta(seconds=int.from_bytes(digest[:8], "big") % (seconds + 1))
