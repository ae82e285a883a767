"""What this room needs of the one that uses it."""

from collections.abc import Sequence
from typing import Protocol

from scheduler.models import Standing, Task
from scheduler.plan import Fire


class TaskLedger(Protocol):
    """The record of tasks and fires, shared by all nodes. Any method may raise when its store is away;
    the dispatcher logs it and tries again at the next tick."""

    async def standings(self) -> Sequence[Standing]:
        """All tasks, disabled ones included. Read anew at every tick, so a change needs no restart."""
        ...

    async def standing(self, name: str) -> Standing | None:
        """One task."""
        ...

    async def fire(self, task: Task, fire: Fire) -> bool:
        """Record one fire and the work it calls for, in one transaction.

        Args:
            task: The task as the node that fires it knows it.
            fire: What to record; its time is unique together with the task's name.

        Returns:
            True if this call made the row; False if it was there already, whoever made it.
        """
        ...

    async def retry(self) -> int:
        """Begin the next try of each failed run whose time has come; returns how many."""
        ...
