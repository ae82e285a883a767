"""What this room needs of the one that uses it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from scheduler.models import Task


class TaskLedger(Protocol):
    """The record of tasks and fires, shared by all nodes. Any method may raise when its store is away;
    the dispatcher logs it and tries again at the next tick."""

    async def tasks(self) -> Sequence[Task]:
        """All tasks, disabled ones included. Read anew at every tick, so a change needs no restart."""
        ...

    async def last_fire(self, name: str) -> datetime | None:
        """Up to when a task has been served (aware): the later of its latest fire and its start point.

        The start point is recorded when a task is first seen, and set anew when it is enabled or its
        schedule or zone changes, so that nothing ever fires for a time before that. None when the
        task has no start point yet: then nothing fires.
        """
        ...

    async def fire(self, task: Task, scheduled_for: datetime, left_out: int) -> bool:
        """Record one fire and the work it calls for, in one transaction.

        Args:
            task: The task as the node that fires it knows it.
            scheduled_for: The occurrence (UTC). Unique together with the task's name.
            left_out: How many earlier occurrences were missed and will not run.

        Returns:
            True if this call made the row; False if it was there already, whoever made it.
        """
        ...
