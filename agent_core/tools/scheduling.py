"""The tools by which a conversation puts work on a schedule. What comes of a call is for others to decide."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Protocol

from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool, ToolException, tool
from pydantic import Field

from agent_core.context import RunContext


class SchedulingError(ToolException):
    """A task cannot be made or changed as asked; words for the model."""


@dataclass(frozen=True, slots=True)
class TaskWish:
    """A task as the model would have it; what is None stays as it is, or is not set.

    Args:
        title: What people call it.
        prompt: What is to be done, complete in itself.
        cron, every, at: When; at most one is set.
        zone: IANA time zone; None for that of whoever asks.
        quiet: Post nothing when there is nothing to report.
        active_hours: Such as ``08:00-22:00``.
    """

    title: str | None = None
    prompt: str | None = None
    cron: str | None = None
    every: str | None = None
    at: str | None = None
    zone: str | None = None
    quiet: bool | None = None
    active_hours: str | None = None


class TaskStep(StrEnum):
    """What can be done with a task that is there."""

    PAUSE = "pause"
    RESUME = "resume"
    RUN_NOW = "run_now"
    CHANGE = "change"


class TaskPort(Protocol):
    """Who keeps the tasks. Nothing counts before a person has confirmed it, for which they are asked in the
    chat. Every method gives words for the model, and raises :class:`SchedulingError`."""

    async def propose(self, run: RunContext, call_id: str, wish: TaskWish) -> str:
        """Ask whether this is to be a task."""
        ...

    async def listing(self, run: RunContext) -> str:
        """What tasks there are, for whoever asked."""
        ...

    async def step(
        self, run: RunContext, call_id: str, task: str, step: TaskStep, wish: TaskWish | None
    ) -> str:
        """Ask whether this is to be done with a task."""
        ...

    async def cancel(self, run: RunContext, call_id: str, task: str) -> str:
        """Ask whether a task is to be deleted."""
        ...


Cron = Annotated[
    str | None,
    Field(description="Five fields: minute hour day month weekday (0 and 7 are Sunday), such as 0 8 * * 1-5"),
]
Every = Annotated[str | None, Field(description="Such as 30m, 2h or 1d")]
At = Annotated[str | None, Field(description="Once: in 20m, or 2026-12-24 18:00")]
Zone = Annotated[
    str | None, Field(description="IANA time zone such as Europe/Berlin, if the person named one")
]
Quiet = Annotated[bool | None, Field(description="Post nothing when there is nothing to report")]
Hours = Annotated[str | None, Field(description="Only run within these hours, such as 08:00-22:00")]
Name = Annotated[str, Field(description="Name of the task, as list_tasks gives it")]


def scheduling_tools(tasks: TaskPort) -> Sequence[BaseTool]:
    """Make the tools, in the order the model sees them."""

    @tool
    async def schedule_task(
        title: Annotated[str, Field(description="A few words", min_length=1, max_length=80)],
        prompt: Annotated[
            str,
            Field(
                description="What to do, complete in itself: a run does not see this conversation",
                min_length=1,
                max_length=8000,
            ),
        ],
        runtime: ToolRuntime[RunContext],
        cron: Cron = None,
        every: Every = None,
        at: At = None,
        zone: Zone = None,
        quiet: Quiet = None,
        active_hours: Hours = None,
    ) -> str:
        """Put work on a schedule; the result is posted to this chat each time. Give exactly one of cron,
        every and at. The person is shown the schedule with its next times and must press a button before it
        counts: say so, and do not claim that it is set."""
        wish = TaskWish(title, prompt, cron, every, at, zone, quiet, active_hours)
        return await tasks.propose(runtime.context, runtime.tool_call_id or "", wish)

    @tool
    async def list_tasks(runtime: ToolRuntime[RunContext]) -> str:
        """List the scheduled tasks of this chat and of whoever asks."""
        return await tasks.listing(runtime.context)

    @tool
    async def update_task(
        task: Name,
        step: Annotated[TaskStep, Field(description="What to do with it")],
        runtime: ToolRuntime[RunContext],
        title: str | None = None,
        prompt: str | None = None,
        cron: Cron = None,
        every: Every = None,
        at: At = None,
        zone: Zone = None,
        quiet: Quiet = None,
        active_hours: Hours = None,
    ) -> str:
        """Pause, resume, run or change a scheduled task. The other arguments are for a change: give those
        that are to be different. The person must confirm it by a button."""
        wish = TaskWish(title, prompt, cron, every, at, zone, quiet, active_hours)
        return await tasks.step(runtime.context, runtime.tool_call_id or "", task, step, wish)

    @tool
    async def cancel_task(task: Name, runtime: ToolRuntime[RunContext]) -> str:
        """Delete a scheduled task. The person must confirm it by a button."""
        return await tasks.cancel(runtime.context, runtime.tool_call_id or "", task)

    return (schedule_task, list_tasks, update_task, cancel_task)
