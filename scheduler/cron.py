"""Cron expressions: what they mean and when they fire. Pure: no clock, no loop.

The meaning is that of Debian's cron. Reading an expression and matching a date are left to cronsim;
the walk over days is ours, because it must be right in every zone (cronsim steps whole hours and so
loses minutes where the clock shifts by thirty), and because counting backward must be cheap.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from itertools import product
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from scheduler.errors import ScheduleError
from scheduler.once import settled

MAX_EXPRESSION = 200
"""Characters an expression may have."""

HORIZON = timedelta(days=50 * 366)
"""How far ahead a fire is looked for. The rarest dates (a leap day on one weekday, across a century
without a leap year) come at least every 40 years."""

_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_DAY = timedelta(days=1)
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Cron:
    """A schedule of five fields: minute, hour, day of month, month, day of week.

    Weekdays are 0 to 7 with both 0 and 7 for Sunday, or names. When day of month and day of week are
    both given, either is enough, as in standard cron; when one of them begins with ``*``, both must hold.

    Args:
        expression: The five fields. Use :func:`parse_cron` for text that may hold a shorthand.

    Raises:
        ScheduleError: The expression cannot be read or never fires.
    """

    expression: str

    def __post_init__(self) -> None:
        fields = _fields(self.expression)
        start = date(2000, 1, 1)
        if next(_days(fields, start, start + HORIZON), None) is None:
            raise ScheduleError(f"The cron expression {self.expression!r} never fires: no date matches it.")


@dataclass(frozen=True, slots=True)
class _Fields:
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    months: frozenset[int]
    wildcard: bool
    sim: CronSim


def parse_cron(text: str) -> Cron:
    """Read five cron fields, or one of ``@hourly @daily @midnight @weekly @monthly @yearly @annually``.

    Raises:
        ScheduleError: With words that name the faulty field.
    """
    cleaned = " ".join(text.split())
    if not cleaned.isascii():
        raise ScheduleError("A cron expression is written in plain ASCII characters.")
    if cleaned.startswith("@"):
        known = _ALIASES.get(cleaned.lower())
        if known is None:
            names = " ".join(_ALIASES)
            raise ScheduleError(f"Unknown shorthand {cleaned[:40]!r}. Accepted: {names}.")
        return Cron(known)
    return Cron(cleaned.upper())


def fires_after(cron: Cron, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """The fires strictly after a moment, in order, in UTC; ends at the horizon."""
    fields = _fields(cron.expression)
    # A day earlier: a time skipped by a clock change may settle on the next local date.
    first = after.astimezone(zone).date() - _DAY
    latest = after
    for day in _days(fields, first, first + HORIZON):
        for fire in _fires_on(fields, zone, day):
            if fire > latest:
                latest = fire
                yield fire


def fires_back_to(cron: Cron, zone: ZoneInfo, after: datetime, until: datetime) -> Iterator[datetime]:
    """The fires in ``(after, until]``, the latest first, in UTC."""
    fields = _fields(cron.expression)
    first = after.astimezone(zone).date() - _DAY
    seen: datetime | None = None
    for day in _days_back(fields, until.astimezone(zone).date(), first):
        for fire in reversed(_fires_on(fields, zone, day)):
            if after < fire <= until and (seen is None or fire < seen):
                seen = fire
                yield fire


def explain(cron: Cron) -> str:
    """The expression in plain English, such as ``At 08:00 on Monday through Friday``."""
    return _fields(cron.expression).sim.explain()


@lru_cache(maxsize=1024)
def _fields(expression: str) -> _Fields:
    if len(expression) > MAX_EXPRESSION:
        raise ScheduleError(f"A cron expression has at most {MAX_EXPRESSION} characters.")
    parts = expression.split()
    if len(parts) != 5:
        raise ScheduleError(
            f"The cron expression {expression!r} has {len(parts)} fields. Accepted: five, which are "
            "minute, hour, day of month, month, day of week."
        )
    try:
        sim = CronSim(expression, datetime(2000, 1, 1, tzinfo=UTC))
    except CronSimError as error:
        fault = str(error).removeprefix("Bad ").replace("-", " ")
        raise ScheduleError(f"The cron expression {expression!r} has a bad {fault}.") from error
    return _Fields(
        minutes=tuple(sorted(sim.minutes)),
        hours=tuple(sorted(sim.hours)),
        months=frozenset(sim.months),
        wildcard=parts[0].startswith("*") or parts[1].startswith("*"),
        sim=sim,
    )


def _days(fields: _Fields, first: date, last: date) -> Iterator[date]:
    day = first
    while day <= last:
        if day.month not in fields.months:
            day = (day.replace(day=1) + 31 * _DAY).replace(day=1)
            continue
        if fields.sim.match_day(day):
            yield day
        day += _DAY


def _days_back(fields: _Fields, last: date, first: date) -> Iterator[date]:
    day = last
    while day >= first:
        if day.month not in fields.months:
            day = day.replace(day=1) - _DAY
            continue
        if fields.sim.match_day(day):
            yield day
        day -= _DAY


def _fires_on(fields: _Fields, zone: ZoneInfo, day: date) -> list[datetime]:
    """The fires that belong to one local date, ascending."""
    midnight = datetime.combine(day, time())
    before = _offset(midnight.replace(tzinfo=zone))
    after = _offset((midnight + _DAY).replace(tzinfo=zone, fold=1))
    wall_times = [midnight.replace(hour=h, minute=m) for h, m in product(fields.hours, fields.minutes)]
    if before == after:
        return [(wall - before).replace(tzinfo=UTC) for wall in wall_times]
    if fields.wildcard:
        return _passing(set(wall_times), zone, midnight - max(before, after), 1440 + _minutes(before, after))
    return sorted({settled(wall, zone) for wall in wall_times})


def _passing(wall_times: set[datetime], zone: ZoneInfo, start: datetime, minutes: int) -> list[datetime]:
    """Real minutes at which the wall clock shows one of the times: a doubled one counts twice, a skipped
    one not at all. That is what "every" means, and only jobs with a star in minute or hour ask for it."""
    moments = (start.replace(tzinfo=UTC) + n * _MINUTE for n in range(minutes))
    return [
        moment for moment in moments if moment.astimezone(zone).replace(tzinfo=None, fold=0) in wall_times
    ]


def _offset(local: datetime) -> timedelta:
    offset = local.utcoffset()
    assert offset is not None
    return offset


def _minutes(before: timedelta, after: timedelta) -> int:
    return abs(before - after) // _MINUTE
