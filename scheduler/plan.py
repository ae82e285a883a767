"""What to fire now. Pure: lateness rules live here, not in the alarm."""

from dataclasses import dataclass
from datetime import datetime

from scheduler.models import Task
from scheduler.schedule import due


@dataclass(frozen=True, slots=True)
class Fire:
    """One run to start.

    Args:
        scheduled_for: The occurrence it stands for (UTC).
        left_out: How many earlier occurrences it makes up for.
    """

    scheduled_for: datetime
    left_out: int


def plan_fire(task: Task, served_until: datetime, now: datetime) -> Fire | None:
    """Decide what a task owes: one run for its latest missed occurrence, however many were missed.

    Args:
        task: The task; a disabled one owes nothing.
        served_until: Up to when it has been served (aware).
        now: The present (aware).
    """
    if not task.enabled:
        return None
    owed = due(task.schedule, task.zone, served_until, now, limit=1)
    if not owed.times:
        return None
    return Fire(owed.times[-1], owed.left_out)
