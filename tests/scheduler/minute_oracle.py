"""A slow, plain second opinion on cron: it looks at every minute. Shares no code with the room."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

_NAMES = {
    name: str(number)
    for names, start in (
        ("SUN MON TUE WED THU FRI SAT", 0),
        ("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC", 1),
    )
    for number, name in enumerate(names.split(), start)
}
_BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


def oracle_fires(expression: str, zone: ZoneInfo, after: datetime, until: datetime) -> list[datetime]:
    """Every fire in ``(after, until]`` by Debian's rules, in UTC."""
    fields = expression.split()
    sets = [_values(field, *bounds) for field, bounds in zip(fields, _BOUNDS, strict=True)]
    wildcard = fields[0][0] == "*" or fields[1][0] == "*"
    both_days = fields[2][0] == "*" or fields[4][0] == "*"

    def matches(wall: datetime) -> bool:
        weekday = wall.isoweekday()
        by_date, by_weekday = wall.day in sets[2], weekday in sets[4] or weekday % 7 in sets[4]
        day = (by_date and by_weekday) if both_days else (by_date or by_weekday)
        return day and wall.minute in sets[0] and wall.hour in sets[1] and wall.month in sets[3]

    fires = []
    moment = after.astimezone(UTC).replace(second=0, microsecond=0) - timedelta(minutes=1)
    before = _wall(moment, zone)
    while moment < until:
        moment += timedelta(minutes=1)
        wall = _wall(moment, zone)
        skipped = []
        if not wildcard:
            step = before + timedelta(minutes=1)
            while step < wall:
                skipped.append(step)
                step += timedelta(minutes=1)
        second_pass = moment.astimezone(zone).fold == 1
        hit = matches(wall) and (wildcard or not second_pass)
        if (hit or any(matches(step) for step in skipped)) and after < moment <= until:
            fires.append(moment)
        before = wall
    return fires


def _wall(moment: datetime, zone: ZoneInfo) -> datetime:
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)


def _values(field: str, low: int, high: int) -> set[int]:
    found: set[int] = set()
    for term in field.split(","):
        span, _, step = term.partition("/")
        start, _, end = span.partition("-")
        if span == "*":
            first, last = low, high
        else:
            first = int(_NAMES.get(start, start))
            last = int(_NAMES.get(end, end)) if end else (high if step else first)
        found.update(range(first, last + 1, int(step or 1)))
    return found
