"""The tasks of ``config.yaml``, as the scheduler sees them and as the ledger records them."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

from bot.clock import Clock
from bot.config import TaskConfig
from bot.engine.wakes import Wakes
from bot.lanes import Lane
from bot.store import tasks
from bot.store.database import Database
from channels.messages import Address, ChatKind, InboundMessage, Sender
from scheduler.models import Target, Task
from scheduler.schedule import Cron, Interval, Schedule

SCHEDULER = Sender("scheduler", "Scheduler")


class ConfiguredTasks:
    """Implements :class:`scheduler.ports.TaskLedger` over declared tasks and the ledger.

    Args:
        declared: The tasks of ``config.yaml``.
        database: The ledger.
        wakes: How to ask for the work of a fire.
        now: The clock.
    """

    def __init__(self, declared: Sequence[TaskConfig], database: Database, wakes: Wakes, now: Clock) -> None:
        self._declared = {task.name: task for task in declared}
        self._database = database
        self._wakes = wakes
        self._now = now

    async def reconcile(self) -> None:
        """Note which tasks are new or changed, so that nothing fires for the time before."""
        declared = {name: _timing(task) for name, task in self._declared.items()}
        await self._database.run(partial(tasks.reconcile, declared=declared, now=self._now()))

    async def tasks(self) -> Sequence[Task]:
        """See :class:`scheduler.ports.TaskLedger`."""
        found = []
        for name, declared in self._declared.items():
            anchor = await self._database.run(partial(tasks.first_seen, name=name))
            found.append(_task(declared, anchor or self._now()))
        return found

    async def last_fire(self, name: str) -> datetime | None:
        """See :class:`scheduler.ports.TaskLedger`."""
        return await self._database.run(partial(tasks.last_served, name=name))

    async def fire(self, task: Task, scheduled_for: datetime, left_out: int) -> bool:
        """See :class:`scheduler.ports.TaskLedger`."""
        lane = await self._fire(task, scheduled_for, left_out)
        if lane is None:
            return False
        await self._wakes.now(lane)
        return True

    async def _fire(self, task: Task, scheduled_for: datetime, left_out: int) -> Lane | None:
        targets = [Address(one.channel, one.account, one.chat, one.platform_thread) for one in task.targets]
        key = fire_key(task.name, scheduled_for)
        message = InboundMessage(
            address=targets[0],
            chat_kind=ChatKind.DIRECT,
            sender=SCHEDULER,
            message_id=key,
            dedupe_key=key,
            text=task.prompt,
        )
        return await self._database.run(
            partial(
                tasks.fire,
                task=task.name,
                scheduled_for=scheduled_for,
                left_out=left_out,
                message=message,
                targets=targets,
                model=task.model,
                mode=task.mode,
                now=self._now(),
            )
        )


def fire_key(name: str, scheduled_for: datetime) -> str:
    """The dedupe key of one fire: equal on every node."""
    return f"task:{name}:{scheduled_for.isoformat()}"


def schedule_of(declared: TaskConfig, anchor: datetime) -> Schedule:
    """When a declared task fires; an interval counts from its anchor, so restarts do not push it."""
    if declared.schedule.cron is not None:
        return Cron(declared.schedule.cron)
    assert declared.schedule.interval is not None
    return Interval(declared.schedule.interval, anchor)


def _task(declared: TaskConfig, anchor: datetime) -> Task:
    return Task(
        name=declared.name,
        prompt=declared.prompt,
        schedule=schedule_of(declared, anchor),
        zone=ZoneInfo(declared.zone),
        targets=tuple(
            Target(target.channel, target.account, target.chat, target.thread) for target in declared.targets
        ),
        model=declared.model,
        mode=declared.mode,
        enabled=declared.enabled,
    )


def _timing(declared: TaskConfig) -> str:
    schedule = declared.schedule
    return f"{schedule.cron or schedule.every} {declared.zone} {'on' if declared.enabled else 'off'}"
