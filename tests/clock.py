"""A clock that tests move."""

from datetime import UTC, datetime, timedelta


class ManualClock:
    """Stands still until moved; call it for the time.

    Args:
        start: The first time it shows.
    """

    def __init__(self, start: datetime = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)) -> None:
        self._now = start

    def __call__(self) -> datetime:
        """The time (aware, UTC)."""
        return self._now

    def move(self, span: timedelta) -> None:
        """Let time pass."""
        self._now += span
