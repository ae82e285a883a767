"""One subagent at work: runs its graph inside the ``task`` call and tells how it goes.

The graph has no store of its own. It inherits the lead agent's, under a namespace that belongs to the
call; so a call that is made again after a crash finds what its subagent had done, and goes on there.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.errors import GraphBubbleUp

from agent_core.context import RunContext
from agent_core.events import (
    PresentedFile,
    SubagentEnded,
    SubagentEvent,
    SubagentStarted,
    SubagentStatus,
    SubagentStep,
    SubagentText,
    SubagentTool,
    TextDelta,
    ToolFinished,
    ToolStarted,
    Usage,
)
from agent_core.lead_agent import LeadAgent
from agent_core.models.errors import ModelFailedError
from agent_core.stream_events import StreamEvents, started
from agent_core.subagents.spec import SubagentSpec
from agent_core.tools.present import presented_files
from agent_core.turns import ending, turn_of, usage

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a task.

    Args:
        status: How it ended.
        report: For the lead agent.
        usage: What it used, also before a resume.
        files: What it presented.
    """

    status: SubagentStatus
    report: str
    usage: Usage
    files: tuple[PresentedFile, ...]


class SubagentRun:
    """One task.

    Args:
        agent: The subagent's graph.
        spec: Its kind.
        task_id: Id of the ``task`` call.
        description: What it does, for people.
        context: The lead agent's run.
        tell: Told of each event.
    """

    def __init__(
        self,
        agent: LeadAgent,
        spec: SubagentSpec,
        task_id: str,
        description: str,
        context: RunContext,
        tell: Callable[[SubagentEvent], None],
    ) -> None:
        self._agent = agent
        self._spec = spec
        self._task_id = task_id
        self._description = description
        self._context = context
        self._tell = tell
        self._message_id = f"{context.run_id}:{task_id}"
        self._messages: Sequence[AnyMessage] = ()

    async def run(self, prompt: str) -> Outcome:
        """Do the task, or what is left of it.

        Cancelling this stops the model call and the tools. Whatever else goes wrong is told in the
        outcome, so that the other subagents go on.
        """
        self._tell(SubagentStarted(self._task_id, self._spec.name, self._description))
        try:
            status, report = await self._finish(prompt)
        except asyncio.CancelledError:
            self._tell(SubagentEnded(self._task_id, SubagentStatus.CANCELLED, usage(self._turn)))
            raise
        outcome = Outcome(status, report, usage(self._turn), presented_files(self._turn))
        self._tell(SubagentEnded(self._task_id, status, outcome.usage))
        return outcome

    @property
    def _turn(self) -> Sequence[AnyMessage]:
        return turn_of(self._messages, self._message_id) or ()

    async def _finish(self, prompt: str) -> tuple[SubagentStatus, str]:
        try:
            async with asyncio.timeout(self._spec.seconds) as limit:
                await self._follow(prompt)
        except GraphBubbleUp:
            # LangGraph's own signals, such as an interrupt that waits for a person.
            raise
        except ModelFailedError as error:
            _log.warning("subagent %s: the model failed for good: %s", self._message_id, error.detail)
            return SubagentStatus.FAILED, self._unfinished(f"The subagent failed: {error.people}")
        except Exception as error:  # noqa: BLE001 - the border around one of several that work beside each other
            if limit.expired():
                minutes = f"{self._spec.seconds / 60:.3g} minutes"
                return SubagentStatus.TIMED_OUT, self._unfinished(
                    f"The subagent was stopped after {minutes}, the longest it may work."
                )
            _log.exception("subagent %s failed", self._message_id)
            return SubagentStatus.FAILED, self._unfinished(f"The subagent failed ({type(error).__name__}).")
        end = ending(self._turn)
        return SubagentStatus.COMPLETED, end.answer if end else ""

    def _unfinished(self, why: str) -> str:
        said = [m.text.strip() for m in self._turn if isinstance(m, AIMessage) and m.text.strip()]
        last = f" What it said last:\n\n{said[-1]}" if said else ""
        return f"{why} Files it wrote are still there.{last}"

    async def _follow(self, prompt: str) -> None:
        """Run the graph to its end and tell of what happens in it."""
        given = {"messages": [HumanMessage(prompt, id=self._message_id)]}
        # Calls are only unique within one agent; nobody is there to ask, and what is remembered of the
        # person is the lead agent's to tell.
        context = replace(self._context, run_id=self._message_id, interactive=False, private=False)
        stream = cast(
            "AsyncIterator[tuple[str, Any]]",
            # Without a config: with one, the place in the lead agent's checkpoints would be lost.
            self._agent.astream(given, context=context, stream_mode=["messages", "updates", "values"]),
        )
        events = StreamEvents()
        steps = None
        async with aclosing(cast("Any", stream)):
            async for mode, data in stream:
                if mode == "values":
                    self._messages = data["messages"]
                    if steps is None:
                        # After a resume: what was going on goes on, and nobody else will say so.
                        for resumed in started(self._turn):
                            self._tell(SubagentTool(self._task_id, resumed))
                    if (done := _steps(self._turn)) != steps:
                        steps = done
                        if done:
                            self._tell(SubagentStep(self._task_id, done))
                for event in events.read(mode, data):
                    match event:
                        case TextDelta(message_id=message_id, text=text):
                            self._tell(SubagentText(self._task_id, message_id, text))
                        case ToolStarted() | ToolFinished():
                            self._tell(SubagentTool(self._task_id, event))


def _steps(turn: Sequence[AnyMessage]) -> int:
    return sum(isinstance(message, AIMessage) for message in turn)
