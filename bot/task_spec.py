"""What a task is, as the ledger keeps it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

from bot.config import TaskConfig
from bot.config.tasks import seconds_of
from bot.task_kinds import TaskContext, TaskKind
from channels.messages import Address, ChatKind
from scheduler.health import RETRY_DELAYS
from scheduler.hours import parse_hours
from scheduler.models import Misfire, Overlap, Task
from scheduler.once import settled
from scheduler.schedule import Cron, Interval, Once, Schedule, describe

TIMEOUT = timedelta(hours=1)
"""The longest that a run may take, unless the task says otherwise."""


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One task.

    Args:
        title: What people call it.
        prompt: What the agent is asked, or the text of a reminder.
        zone: IANA zone of the schedule and of the hours.
        targets: Who gets the outcome.
        cron, every, at: When; exactly one is set. ``every`` counts from the start point.
        kind: What is done.
        model: Name of the model; None for the default one.
        mode: How much the agent may spend; None for the default one.
        jitter: The longest that it may begin after its time.
        misfire: What becomes of missed times.
        overlap: What becomes of times while a run is going on.
        timeout: The longest that a run may take.
        retries: Further tries of a run that failed.
        context: Where a run takes place.
        thread_key: Whose conversation that is, for ``context: thread`` and for heartbeats.
        quiet: The agent may post nothing when there is nothing to report.
        progress: Show in the chats what a run is doing.
        active_hours: When it may run, such as ``08:00-22:00``; None for always.
        token_budget: Tokens that one run may use; None for what holds for all.
        asked_in: The kind of chat in which its owner asked for it.
    """

    title: str
    prompt: str
    zone: str
    targets: tuple[Address, ...]
    cron: str | None = None
    every: timedelta | None = None
    at: datetime | None = None
    kind: TaskKind = TaskKind.PROMPT
    model: str | None = None
    mode: str | None = None
    jitter: timedelta = timedelta(0)
    misfire: Misfire = Misfire.RUN_ONCE
    overlap: Overlap = Overlap.SKIP
    timeout: timedelta = TIMEOUT
    retries: int = len(RETRY_DELAYS)
    context: TaskContext = TaskContext.FRESH
    thread_key: str | None = None
    quiet: bool = False
    progress: bool = True
    active_hours: str | None = None
    token_budget: int | None = None
    asked_in: ChatKind = ChatKind.DIRECT

    @property
    def timing(self) -> str:
        """All that says when it fires, as text."""
        every = None if self.every is None else int(self.every.total_seconds())
        return f"{self.cron or every or (self.at and self.at.isoformat())} {self.zone}"

    def schedule(self, anchor: datetime) -> Schedule:
        """When it fires; an interval counts from the anchor, so that restarts do not push it."""
        if self.cron is not None:
            return Cron(self.cron)
        if self.every is not None:
            return Interval(self.every, anchor)
        assert self.at is not None, "a task has a schedule"
        return Once(self.at)

    def described(self, anchor: datetime) -> str:
        """When it fires, in words for people."""
        if self.every is not None:
            return describe(self.schedule(anchor), ZoneInfo(self.zone)).partition(",")[0]
        return describe(self.schedule(anchor), ZoneInfo(self.zone))

    def task(self, name: str, anchor: datetime, *, enabled: bool) -> Task:
        """The same for the scheduler."""
        return Task(
            name=name,
            schedule=self.schedule(anchor),
            zone=ZoneInfo(self.zone),
            enabled=enabled,
            jitter=self.jitter,
            misfire=self.misfire,
            overlap=self.overlap,
            hours=None if self.active_hours is None else parse_hours(self.active_hours),
        )


_SPEC = TypeAdapter(TaskSpec)


def dump_spec(spec: TaskSpec) -> str:
    """A task as JSON."""
    return _SPEC.dump_json(spec).decode()


def load_spec(body: str) -> TaskSpec:
    """The task of :func:`dump_spec`.

    Raises:
        pydantic.ValidationError: Another version wrote it.
    """
    return _SPEC.validate_json(body)


def declared_spec(declared: TaskConfig, thread_key: str | None) -> TaskSpec:
    """A task of ``config.yaml``.

    Args:
        declared: What it says.
        thread_key: The conversation of its chat, for ``context: thread``.
    """
    zone = ZoneInfo(declared.zone)
    return TaskSpec(
        title=declared.name,
        prompt=declared.prompt,
        zone=declared.zone,
        targets=tuple(target.address() for target in declared.targets),
        cron=declared.schedule.cron,
        every=declared.schedule.interval,
        at=None if declared.schedule.at is None else _moment(declared.schedule.at, zone),
        model=declared.model,
        mode=declared.mode,
        jitter=_span(declared.jitter),
        misfire=declared.misfire,
        overlap=declared.overlap,
        timeout=_span(declared.timeout),
        retries=declared.retries,
        context=declared.context,
        thread_key=thread_key,
        quiet=declared.quiet,
        progress=declared.progress,
        active_hours=declared.active_hours,
        token_budget=declared.token_budget,
    )


def _span(interval: str | None) -> timedelta:
    return timedelta(seconds=0 if interval is None else seconds_of(interval))


def _moment(text: str, zone: ZoneInfo) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.utcoffset() is not None else settled(moment, zone)
