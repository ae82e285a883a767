"""What is put on a schedule."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from scheduler.hours import ActiveHours
from scheduler.schedule import Schedule


class Misfire(StrEnum):
    """What becomes of occurrences for which nobody was there."""

    RUN_ONCE = "run_once"  # one run, for the latest
    SKIP = "skip"  # none


class Overlap(StrEnum):
    """What becomes of an occurrence while the run before is still going on."""

    SKIP = "skip"
    QUEUE = "queue"  # one run after it, for the latest occurrence
    CANCEL_PREVIOUS = "cancel_previous"


@dataclass(frozen=True, slots=True)
class Task:
    """Work to do at set times, as far as time goes.

    Args:
        name: Unique, and the same for as long as the task is the same.
        schedule: When.
        zone: The zone whose wall clock the schedule and the hours follow.
        enabled: Whether the schedule fires. A run by hand is possible either way.
        jitter: The longest that an occurrence may begin after its time.
        misfire: What becomes of missed occurrences.
        overlap: What becomes of occurrences while a run is going on.
        hours: When it may run; None for always.
    """

    name: str
    schedule: Schedule
    zone: ZoneInfo
    enabled: bool = True
    jitter: timedelta = timedelta(0)
    misfire: Misfire = Misfire.RUN_ONCE
    overlap: Overlap = Overlap.SKIP
    hours: ActiveHours | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """A task and where it stands.

    Args:
        task: The task.
        served_until: Up to when it has been served (aware): the later of its latest scheduled fire and its
            start point, so that nothing ever fires for the time before that.
        busy: Whether a run of it is going on, or waits to begin.
    """

    task: Task
    served_until: datetime
    busy: bool = False
