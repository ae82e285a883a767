"""Hours of the day in which a task may run. Pure."""

import re
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from scheduler.errors import ScheduleError

_DAY_MINUTES = 24 * 60
_WINDOW = re.compile(r"\s*([0-9]{1,2}):([0-9]{2})\s*[-–]\s*([0-9]{1,2}):([0-9]{2})\s*")


@dataclass(frozen=True, slots=True)
class ActiveHours:
    """A window of each day by the wall clock; one that ends before it begins runs over midnight.

    Args:
        start: Minute of the day it begins with.
        end: Minute of the day it ends before; 1440 for the end of the day.
    """

    start: int
    end: int

    def hold(self, moment: datetime, zone: ZoneInfo) -> bool:
        """Whether a moment (aware) is within the hours, by the wall clock of a zone."""
        local = moment.astimezone(zone)
        minute = local.hour * 60 + local.minute
        if self.start < self.end:
            return self.start <= minute < self.end
        return minute >= self.start or minute < self.end

    def __str__(self) -> str:
        return f"{_spell(self.start)}-{_spell(self.end)}"


def parse_hours(text: str) -> ActiveHours:
    """Read hours such as ``08:00-22:00`` or, over midnight, ``22:00-06:00``.

    Raises:
        ScheduleError: With words that say what is accepted.
    """
    match = _WINDOW.fullmatch(text)
    if match is None:
        raise ScheduleError(f"Cannot read the hours {text[:40]!r}. Write them like 08:00-22:00.")
    first_hour, first_minute, last_hour, last_minute = (int(part) for part in match.groups())
    start, end = first_hour * 60 + first_minute, last_hour * 60 + last_minute
    if first_minute > 59 or last_minute > 59 or start >= _DAY_MINUTES or end > _DAY_MINUTES:
        raise ScheduleError(f"The hours {text[:40]!r} are no times of a day. Write them like 08:00-22:00.")
    if start == end:
        raise ScheduleError("The hours begin and end at the same time. Leave them out for the whole day.")
    return ActiveHours(start, end)


def _spell(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"
