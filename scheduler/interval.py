"""Fixed intervals, counted from an anchor so that a restart never moves them. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from scheduler.errors import ScheduleError

SHORTEST = timedelta(seconds=1)
"""The least interval this room can keep; what people may ask for is decided by the configuration."""

LONGEST = timedelta(days=366)
"""The greatest interval accepted."""

_UNITS = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_DURATION = re.compile(
    r"(?:every )?" + "".join(rf"(?:(?P<{name}>[0-9]{{1,6}}) ?{unit})? ?" for unit, name in _UNITS.items())
)


@dataclass(frozen=True, slots=True)
class Interval:
    """Fires at the anchor and every so often after it, in real time: 24 hours are 24 hours on the day a
    clock changes too. For a time of day, use a cron expression.

    Args:
        every: Whole seconds, at least one.
        anchor: Where the counting starts (aware). Nothing fires before it. Kept in UTC, to the second.

    Raises:
        ScheduleError: ``every`` is out of range or no whole number of seconds, or the anchor is naive.
    """

    every: timedelta
    anchor: datetime

    def __post_init__(self) -> None:
        if not SHORTEST <= self.every <= LONGEST or self.every.microseconds:
            raise ScheduleError("An interval is a whole number of seconds, from 1 second to 366 days.")
        if self.anchor.utcoffset() is None:
            raise ScheduleError("The anchor of an interval needs a time zone.")
        object.__setattr__(self, "anchor", self.anchor.astimezone(UTC).replace(microsecond=0))


def parse_every(text: str) -> timedelta:
    """Read an interval such as ``30m``, ``1h30m``, ``90s``, ``2 d`` or ``every 15m`` (units w d h m s).

    Raises:
        ScheduleError: With words that say what is accepted.
    """
    match = _DURATION.fullmatch(text.strip().lower())
    amounts = {unit: int(value) for unit, value in (match.groupdict() if match else {}).items() if value}
    if not amounts:
        raise ScheduleError(f"Cannot read the interval {text[:40]!r}. Write it like 30m, 2h, 1h30m or 1d.")
    every = timedelta(**amounts)
    if not SHORTEST <= every <= LONGEST:
        raise ScheduleError(f"The interval {text[:40]!r} is out of range: from 1 second to 366 days.")
    return every


def interval_fires_after(interval: Interval, after: datetime) -> Iterator[datetime]:
    """The fires strictly after a moment, in order, without end."""
    step = first_step_after(interval, after)
    while True:
        yield interval.anchor + step * interval.every
        step += 1


def first_step_after(interval: Interval, after: datetime) -> int:
    """The number of the first fire strictly after a moment; the anchor is number 0."""
    return max(0, (after - interval.anchor) // interval.every + 1)


def spell_duration(span: timedelta) -> str:
    """A span in words, such as ``1 hour 30 minutes``."""
    minutes, seconds = divmod(int(span.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    amounts = (("day", days), ("hour", hours), ("minute", minutes), ("second", seconds))
    return " ".join(f"{n} {unit}{'' if n == 1 else 's'}" for unit, n in amounts if n)
