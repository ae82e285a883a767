"""What people are told about tasks. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from agent_core.text import one_line
from bot.task_spec import TaskSpec
from scheduler.health import DISABLE_AFTER
from scheduler.interval import spell_duration
from scheduler.schedule import next_fires
from scheduler.silence import SILENT

QUIET_NOTE = (
    f"This runs on a schedule. If there is nothing worth telling, answer only {SILENT}: "
    "then nobody is bothered."
)
"""What the agent is told when it may post nothing."""

SHOWN_FIRES = 3

SHOWN_PROMPT = 400
"""Characters of a prompt that are shown."""


def restated(spec: TaskSpec, anchor: datetime, now: datetime) -> str:
    """A task in words, with its next times."""
    lines = [
        f"When: {spec.described(anchor)}",
        f"Next: {'; '.join(coming(spec, anchor, now)) or 'never'}",
        f"What: {one_line(spec.prompt, SHOWN_PROMPT)}",
        *([f"Only between: {spec.active_hours}"] if spec.active_hours else []),
        *(["Quiet: posts nothing when there is nothing to report"] if spec.quiet else []),
    ]
    return listed(lines)


def coming(spec: TaskSpec, anchor: datetime, now: datetime) -> list[str]:
    """The next times of a task, such as ``Mon 2026-11-02 08:00 CET``."""
    zone = ZoneInfo(spec.zone)
    fires = next_fires(spec.schedule(anchor), zone, now, SHOWN_FIRES)
    return [shown(fire, zone) for fire in fires]


def shown(moment: datetime, zone: ZoneInfo) -> str:
    """A moment by the wall clock of a zone."""
    local = moment.astimezone(zone)
    seconds = ":%S" if local.second else ""
    return local.strftime(f"%a %Y-%m-%d %H:%M{seconds} %Z")


def failing(name: str, title: str, failures: int, reason: str, next_try: datetime | None, zone: str) -> str:
    """The alert after failures."""
    tried = "once" if failures == 1 else f"{failures} times in a row"
    then = f" I try again at {shown(next_try, ZoneInfo(zone))}." if next_try else ""
    more = f"`/tasks show {name}` has more."
    return f"The task **{title}** (`{name}`) has failed {tried}: {reason}{then}\n\n{more}"


def switched_off(name: str, title: str, reason: str) -> str:
    """The word when a task is switched off."""
    return (
        f"The task **{title}** (`{name}`) has failed {DISABLE_AFTER} times in a row, so I have switched it "
        f"off. The last time: {reason}\n\nWhen the cause is mended, `/tasks resume {name}` has it run again."
    )


def recovered(name: str, title: str) -> str:
    """The word when a task works again."""
    return f"The task **{title}** (`{name}`) works again."


def undelivered(name: str, title: str, place: str, reason: str) -> str:
    """The word when a chat does not take what a task has for it."""
    return (
        f"The task **{title}** (`{name}`) has run, but its result did not get to {place}: {reason}. "
        f"The result is kept; `/tasks show {name}` has it."
    )


def too_long(timeout: timedelta) -> str:
    """The reason of a run that was ended for its length."""
    return f"it took longer than {spell_duration(timeout)} and was ended."


def listed(lines: Sequence[str]) -> str:
    """Lines as a Markdown list."""
    return "\n".join(f"- {line}" for line in lines)
