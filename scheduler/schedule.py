"""When things fire: the one place that answers for every kind of schedule. Pure: no clock, no loop.

All moments in and out are aware; all moments out are UTC. Arithmetic is done in UTC alone, because adding
to a local time loses which pass of a doubled hour it was in.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from scheduler.cron import Cron, explain, fires_after, fires_back_to, parse_cron
from scheduler.errors import ScheduleError
from scheduler.interval import (
    Interval,
    first_step_after,
    interval_fires_after,
    parse_every,
    spell_duration,
)
from scheduler.once import Once, parse_once

__all__ = [
    "COUNT_LIMIT",
    "Cron",
    "Due",
    "Interval",
    "Once",
    "Schedule",
    "ScheduleError",
    "describe",
    "due",
    "next_fires",
    "parse_cron",
    "parse_every",
    "parse_once",
    "parse_zone",
    "require_floor",
    "shortest_gap",
]

Schedule = Cron | Interval | Once

COUNT_LIMIT = 10_000
"""How far missed cron fires are counted. A job of every minute reaches it after a week."""

GAPS_SEEN = 1_500
"""How many gaps between cron fires are looked at: more than a day of minutes."""


@dataclass(frozen=True, slots=True)
class Due:
    """What should have fired in a span of time.

    Args:
        times: The latest ones, ascending, in UTC.
        left_out: How many earlier ones there were besides. Exact as long as all of them together are at
            most :data:`COUNT_LIMIT`, else at least this many.
    """

    times: tuple[datetime, ...]
    left_out: int


def parse_zone(name: str) -> ZoneInfo:
    """Read an IANA zone name such as ``Europe/Berlin``.

    Raises:
        ScheduleError: No such zone.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ScheduleError(
            f"Unknown time zone {name[:60]!r}. Use an IANA name such as Europe/Berlin or UTC."
        ) from error


def next_fires(schedule: Schedule, zone: ZoneInfo, after: datetime, count: int) -> list[datetime]:
    """The next fires strictly after a moment, at most ``count``, in UTC.

    Raises:
        ValueError: ``after`` has no time zone.
    """
    _require_aware(after)
    return list(islice(_forward(schedule, zone, after), count))


def due(schedule: Schedule, zone: ZoneInfo, after: datetime, until: datetime, limit: int = 100) -> Due:
    """What should have fired in ``(after, until]``: the latest ``limit`` and the count of the others.

    A time that the clock shows twice counts once, at its first pass; a time that the clock skips counts at
    the next minute that exists. Cron jobs with a star in minute or hour follow real time instead.

    Raises:
        ValueError: A moment has no time zone.
    """
    _require_aware(after)
    _require_aware(until)
    if until <= after:
        return Due((), 0)
    match schedule:
        case Cron():
            backward = fires_back_to(schedule, zone, after, until)
            latest = list(islice(backward, limit))
            left_out = sum(1 for _ in islice(backward, max(0, COUNT_LIMIT - len(latest))))
            return Due(tuple(reversed(latest)), left_out)
        case Interval():
            first, end = first_step_after(schedule, after), first_step_after(schedule, until)
            kept = range(max(first, end - limit), end)
            times = tuple(schedule.anchor + step * schedule.every for step in kept)
            return Due(times, end - first - len(times))
        case Once(at=at):
            return Due((at,) if after < at <= until else (), 0)


def describe(schedule: Schedule, zone: ZoneInfo) -> str:
    """A schedule in plain words, such as ``At 08:00 on Monday through Friday (Europe/Berlin)``."""
    match schedule:
        case Cron():
            return f"{explain(schedule)} ({zone.key})"
        case Interval():
            anchor = schedule.anchor.astimezone(zone)
            shown = f"{anchor:%Y-%m-%d %H:%M:%S}" if anchor.second else f"{anchor:%Y-%m-%d %H:%M}"
            return f"Every {spell_duration(schedule.every)}, counted from {shown} ({zone.key})"
        case Once(at=at):
            local = at.astimezone(zone)
            shown = f"{local:%A, %Y-%m-%d at %H:%M:%S}" if local.second else f"{local:%A, %Y-%m-%d at %H:%M}"
            return f"Once, on {shown} ({zone.key})"


def shortest_gap(schedule: Schedule, after: datetime) -> timedelta | None:
    """The shortest time between two fires that follow each other; None when there are no two.

    For cron it is looked for among the next :data:`GAPS_SEEN` gaps, in a zone whose clock never changes: a
    daily job is one of every 24 hours, whatever happens to clocks.
    """
    match schedule:
        case Once():
            return None
        case Interval():
            return schedule.every
        case Cron():
            fires = next_fires(schedule, ZoneInfo("UTC"), after, GAPS_SEEN + 1)
            gaps = [later - earlier for earlier, later in pairwise(fires)]
            return min(gaps, default=None)


def require_floor(schedule: Schedule, after: datetime, floor: timedelta) -> None:
    """Refuse a schedule that fires more often than allowed.

    Args:
        schedule: What was asked for.
        after: The present (aware).
        floor: The least time between two fires.

    Raises:
        ScheduleError: With the words for whoever asked.
    """
    gap = shortest_gap(schedule, after)
    if gap is not None and gap < floor:
        raise ScheduleError(
            f"That would run every {spell_duration(gap)}, which is too often. "
            f"The least allowed is every {spell_duration(floor)}."
        )


def _forward(schedule: Schedule, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    match schedule:
        case Cron():
            return fires_after(schedule, zone, after)
        case Interval():
            return interval_fires_after(schedule, after)
        case Once(at=at):
            return iter((at,) if at > after else ())


def _require_aware(moment: datetime) -> None:
    if moment.utcoffset() is None:
        raise ValueError("A moment without a time zone cannot be placed on a schedule.")
