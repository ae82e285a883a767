"""The ``tasks:`` list: what runs by itself, when, and where its result is posted."""

import difflib
import re
import zoneinfo
from datetime import UTC, datetime, timedelta
from typing import Annotated, Self

from cronsim import CronSim, CronSimError
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from bot.config.channels_file import CHANNEL_NAMES
from bot.config.modes import ModeName
from bot.config.section import Expected, Name, PlatformId, PositiveInt, Section, Slug, Text
from bot.task_kinds import TaskContext
from channels.messages import Address
from scheduler.errors import ScheduleError
from scheduler.health import RETRY_DELAYS
from scheduler.hours import parse_hours
from scheduler.models import Misfire, Overlap

CRON_MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
}

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_MAX_INTERVAL_DAYS = 366
_ACCEPTED_CRON = (
    f'five fields (minute hour day month weekday), such as "0 8 * * 1-5", or {", ".join(CRON_MACROS)}'
)


def _cron(value: str) -> str:
    fields = CRON_MACROS.get(value.strip().lower(), value).split()
    if len(fields) != 5 or len(value) > 200:
        raise ValueError
    expression = " ".join(fields)
    try:
        next(CronSim(expression, datetime(2024, 1, 1, tzinfo=UTC)))
    except CronSimError as error:
        raise ValueError(str(error)) from None
    except StopIteration:
        raise ValueError("this one never comes due") from None
    return expression


def _interval(value: str) -> str:
    match = re.fullmatch(r"([0-9]{1,9})([smhd])", value)
    if match is None or not 0 < int(match[1]) * _UNITS[match[2]] <= _MAX_INTERVAL_DAYS * 86_400:
        raise ValueError
    return value


def _zone(value: str) -> str:
    try:
        zoneinfo.ZoneInfo(value)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        close = difflib.get_close_matches(value, sorted(zoneinfo.available_timezones()), n=1)
        raise ValueError(f'did you mean "{close[0]}"?' if close else "") from None
    return value


def _channel(value: str) -> str:
    if value not in CHANNEL_NAMES:
        close = difflib.get_close_matches(value, CHANNEL_NAMES, n=1)
        raise ValueError(f'did you mean "{close[0]}"?' if close else "")
    return value


def _moment(value: object) -> object:
    # YAML reads a time without quotes as a time.
    return value.isoformat(" ") if isinstance(value, datetime) else value


def _at(value: str) -> str:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        raise ValueError from None
    return value


def _hours(value: str) -> str:
    try:
        return str(parse_hours(value))
    except ScheduleError as error:
        raise ValueError(str(error)) from None


Cron = Annotated[str, AfterValidator(_cron), Expected(_ACCEPTED_CRON)]
Interval = Annotated[
    str, AfterValidator(_interval), Expected("a whole number with s, m, h or d, such as 30m, at most 366d")
]
Moment = Annotated[
    str, BeforeValidator(_moment), AfterValidator(_at), Expected('a time such as "2026-12-24 18:00"')
]
Hours = Annotated[str, AfterValidator(_hours), Expected('hours such as "08:00-22:00"')]
Retries = Annotated[int, Field(ge=0, le=len(RETRY_DELAYS)), Expected("a whole number from 0 to 5")]
TokenCount = Annotated[int, Field(ge=1, le=1_000_000_000), Expected("a whole number of 1 or more")]
Zone = Annotated[str, AfterValidator(_zone), Expected("an IANA time zone such as Europe/Berlin")]


def seconds_of(interval: str) -> int:
    """The seconds of an interval such as ``30m``."""
    return int(interval[:-1]) * _UNITS[interval[-1]]


class Schedule(Section):
    """When a task runs: exactly one of the three.

    Args:
        cron: Five fields with standard weekday numbers (0 and 7 are Sunday). Macros such as
            ``@daily`` are replaced by their fields.
        every: A whole number with a unit, as ``90s``, ``30m``, ``2h`` or ``1d``.
        at: A single moment, in the task's zone unless an offset is given.
    """

    cron: Cron | None = None
    every: Interval | None = None
    at: Moment | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if [self.cron, self.every, self.at].count(None) != 2:
            raise ValueError("expected exactly one of cron, every and at")
        return self

    @property
    def interval(self) -> timedelta | None:
        """``every`` as a duration."""
        return None if self.every is None else timedelta(seconds=seconds_of(self.every))


class Target(Section):
    """A chat that a task's result is posted to.

    Args:
        channel: Name of the channel.
        account: Which of the channel's accounts.
        chat: The platform's own id of the chat.
        thread: The platform's own id of a thread or topic in it.
    """

    channel: Annotated[str, AfterValidator(_channel), Expected(f"one of {', '.join(CHANNEL_NAMES)}")]
    account: Name = "main"
    chat: PlatformId
    thread: PlatformId | None = None

    def address(self) -> Address:
        """The same for the channels."""
        return Address(self.channel, self.account, self.chat, self.thread)


class TaskConfig(Section):
    """Work on a schedule.

    Args:
        name: Unique among the tasks of the file.
        schedule: When.
        zone: IANA time zone in which a cron schedule is meant.
        prompt: What the agent is asked.
        targets: Where the result goes.
        owner: Who is told of failures; the first target unless given.
        model: Name of the model; None for the default one.
        mode: How much the agent may spend on it; None for the default one.
        enabled: False keeps it from running by itself.
        jitter: The longest that it may begin after its time, spread evenly.
        misfire: What becomes of times at which nothing was running.
        overlap: What becomes of times at which the run before is still going on.
        timeout: The longest that one run may take.
        retries: Further tries of a run that failed.
        context: A thread of its own for each run, or the conversation of the chat.
        quiet: Let the agent post nothing when there is nothing to report.
        progress: Show in the chats what a run is doing.
        active_hours: When it may run; always unless given.
        token_budget: Tokens that one run may use, instead of what holds for all.
    """

    name: Slug
    schedule: Schedule
    zone: Zone = "UTC"
    prompt: Text
    targets: Annotated[tuple[Target, ...], Field(min_length=1), Expected("a list of one or more targets")]
    owner: Target | None = None
    model: Name | None = None
    mode: ModeName | None = None
    enabled: bool = True
    jitter: Interval | None = None
    misfire: Annotated[Misfire, Expected("run_once or skip")] = Misfire.RUN_ONCE
    overlap: Annotated[Overlap, Expected("skip, queue or cancel_previous")] = Overlap.SKIP
    timeout: Interval = "1h"
    retries: Retries = len(RETRY_DELAYS)
    context: Annotated[TaskContext, Expected("fresh or thread")] = TaskContext.FRESH
    quiet: bool = False
    progress: bool = True
    active_hours: Hours | None = None
    token_budget: TokenCount | None = None

    @model_validator(mode="after")
    def _one_conversation(self) -> Self:
        if self.context is TaskContext.THREAD and len(self.targets) > 1:
            raise ValueError("context: thread is the conversation of one chat, so it takes one target")
        return self


class SchedulingConfig(Section):
    """What people may put on a schedule in chats. The tasks of the file are not bound by it.

    Args:
        shortest_interval: The least time between two runs of a task.
        tasks_per_person: How many tasks somebody may have.
    """

    shortest_interval: Interval = "10m"
    tasks_per_person: PositiveInt = 20
