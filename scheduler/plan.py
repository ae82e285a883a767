"""What to fire now. Pure: lateness, overlap and hours are decided here, not in the alarm."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from scheduler.interval import spell_duration
from scheduler.jitter import delay
from scheduler.models import Misfire, Overlap, Standing, Task
from scheduler.schedule import due

GRACE = timedelta(minutes=2)
"""How late an occurrence may begin before it counts as missed: nodes look for due work every half minute."""

STILL_RUNNING = "the run before was still going on"


@dataclass(frozen=True, slots=True)
class Fire:
    """One occurrence to record.

    Args:
        scheduled_for: The occurrence (UTC).
        left_out: How many earlier occurrences it makes up for.
        skipped: Why it is not run; None when it is.
        cancel_previous: End the run before first.
        by_hand: Somebody asked for it; the schedule takes no notice.
    """

    scheduled_for: datetime
    left_out: int = 0
    skipped: str | None = None
    cancel_previous: bool = False
    by_hand: bool = False


def plan_fire(standing: Standing, now: datetime) -> Fire | None:
    """Decide what a task owes: at most one occurrence, the latest, however many were missed.

    Args:
        standing: The task and where it stands; a disabled one owes nothing.
        now: The present (aware).
    """
    task = standing.task
    if not task.enabled:
        return None
    owed = due(task.schedule, task.zone, standing.served_until, now, limit=2)
    ripe = [time for time in owed.times if time + delay(task.name, time, task.jitter) <= now]
    if not ripe:
        return None
    scheduled_for, left_out = ripe[-1], owed.left_out + len(ripe) - 1
    reason = _reason_to_skip(task, scheduled_for, now)
    if reason is not None:
        return Fire(scheduled_for, left_out, skipped=reason)
    if not standing.busy:
        return Fire(scheduled_for, left_out)
    match task.overlap:
        case Overlap.SKIP:
            return Fire(scheduled_for, left_out, skipped=STILL_RUNNING)
        case Overlap.QUEUE:
            return None
        case Overlap.CANCEL_PREVIOUS:
            return Fire(scheduled_for, left_out, cancel_previous=True)


def _reason_to_skip(task: Task, scheduled_for: datetime, now: datetime) -> str | None:
    late = now - scheduled_for - delay(task.name, scheduled_for, task.jitter)
    if task.misfire is Misfire.SKIP and late > GRACE:
        return f"missed by {spell_duration(late)}"
    hours = task.hours
    if hours is not None and not (hours.hold(scheduled_for, task.zone) and hours.hold(now, task.zone)):
        return f"outside the active hours {hours}"
    return None
