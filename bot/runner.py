"""Scheduled tasks as an operator sees them: what there is, when it fires, and firing it by hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from bot.clock import Clock
from bot.store import tasks
from bot.store.database import Database
from bot.tasks import ConfiguredTasks, fire_key
from scheduler.dispatcher import TaskDispatcher
from scheduler.schedule import describe, next_fires

SHOWN_FIRES = 3


@dataclass(frozen=True, slots=True)
class TaskOverview:
    """One task for people.

    Args:
        name: Its name.
        schedule: When it fires, in words.
        enabled: False when only a run by hand is possible.
        next_fires: The next few times (aware, in the task's zone); none when it is off.
        targets: Where the result goes, in words.
        fired: How often it has fired.
    """

    name: str
    schedule: str
    enabled: bool
    next_fires: Sequence[datetime]
    targets: Sequence[str]
    fired: int


class TaskRunner:
    """Shows and fires tasks.

    Args:
        ledger: The tasks.
        dispatcher: Fires them.
        database: The ledger's tables.
        now: The clock.
    """

    def __init__(
        self, ledger: ConfiguredTasks, dispatcher: TaskDispatcher, database: Database, now: Clock
    ) -> None:
        self._ledger = ledger
        self._dispatcher = dispatcher
        self._database = database
        self._now = now

    async def overview(self) -> list[TaskOverview]:
        """Every task."""
        found = []
        for task in await self._ledger.tasks():
            coming = next_fires(task.schedule, task.zone, self._now(), SHOWN_FIRES) if task.enabled else []
            fired = await self._database.run(partial(tasks.fires, name=task.name))
            found.append(
                TaskOverview(
                    name=task.name,
                    schedule=describe(task.schedule, task.zone),
                    enabled=task.enabled,
                    next_fires=[fire.astimezone(task.zone) for fire in coming],
                    targets=[f"{target.channel} {target.chat}" for target in task.targets],
                    fired=fired,
                )
            )
        return found

    async def run_now(self, name: str) -> str | None:
        """Fire a task by hand, enabled or not; returns the key of the fire, or None if there is no such task.

        Its schedule goes on as if nothing had happened.
        """
        at = await self._dispatcher.run_now(name)
        return None if at is None else fire_key(name, at)
