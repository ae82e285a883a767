"""A single moment. Pure."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from scheduler.errors import ScheduleError
from scheduler.interval import parse_every

_RELATIVE = re.compile(r"in\s+(?P<span>.+)", re.IGNORECASE | re.DOTALL)
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Once:
    """Fires at one moment and never again.

    Args:
        at: When (aware). Kept in UTC, to the second.

    Raises:
        ScheduleError: ``at`` is naive.
    """

    at: datetime

    def __post_init__(self) -> None:
        if self.at.utcoffset() is None:
            raise ScheduleError("A moment needs a time zone.")
        object.__setattr__(self, "at", self.at.astimezone(UTC).replace(microsecond=0))


def parse_once(text: str, zone: ZoneInfo, now: datetime) -> Once:
    """Read a moment: ``in 20m``, ``20m``, ``2026-12-24 18:00`` or ``2026-12-24T18:00+01:00``.

    A time without an offset is meant in the zone; one that its clock skips becomes the next minute that
    exists, one that comes twice is its first pass.

    Args:
        text: What was written.
        zone: Whose wall clock is meant.
        now: The present (aware); what is relative counts from here.

    Raises:
        ScheduleError: It cannot be read, or lies in the past.
    """
    cleaned = text.strip()
    relative = _RELATIVE.fullmatch(cleaned)
    try:
        at = now + parse_every(relative["span"] if relative else cleaned)
    except ScheduleError as error:
        if relative:
            raise
        at = _absolute(cleaned, zone, error)
    if at <= now:
        raise ScheduleError(f"{text[:40]!r} lies in the past.")
    return Once(at)


def settled(wall: datetime, zone: ZoneInfo) -> datetime:
    """The moment of a naive wall clock time, in UTC: a doubled one at its first pass, a skipped one where
    the gap ends."""
    moment = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    while moment.astimezone(zone).replace(tzinfo=None, fold=0) != wall:
        wall = wall.replace(second=0) + _MINUTE
        moment = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    return moment


def _absolute(text: str, zone: ZoneInfo, cause: Exception) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        if moment.utcoffset() is not None:
            return moment.astimezone(UTC)
        return settled(moment.replace(microsecond=0), zone)
    except (ValueError, OverflowError):
        raise ScheduleError(
            f"Cannot read the time {text[:40]!r}. Write it like 20m, 2h or 2026-12-24 18:00."
        ) from cause
