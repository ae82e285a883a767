"""From what a run tells to what a chat shows."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from agent_core.events import (
    FilePresented,
    ReasoningDelta,
    RunEnded,
    RunEvent,
    SubagentEnded,
    SubagentStarted,
    SubagentStep,
    SubagentText,
    SubagentTool,
    TextDelta,
    TodosChanged,
    ToolFinished,
    ToolStarted,
)
from agent_core.text import one_line
from channels.channel import Channel
from channels.messages import Address
from channels.views import Phase, RunView, ToolLine

log = logging.getLogger(__name__)

LAST_VIEW_SECONDS = 2.0

_THOUGHTS = "thoughts"
_THOUGHT_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Progress:
    """A view together with the message it is being written under, and the label of each subagent.

    Args:
        view: What is shown.
        message_id: Of the message whose text it shows.
        thoughts: The latest of what the model thinks before it speaks, with the id of its message.
        subagents: Their labels.
    """

    view: RunView
    message_id: str | None = None
    thoughts: tuple[str, str] = ("", "")
    subagents: Mapping[str, str] = field(default_factory=dict)


def fold(progress: Progress, event: RunEvent) -> Progress:
    """The progress after one more event. Pure; told the same event twice, nothing is shown twice."""
    if isinstance(event, ReasoningDelta):
        return _thinking(progress, event)
    view = (
        _without_thoughts(progress.view)
        if isinstance(event, TextDelta | ToolStarted | RunEnded)
        else progress.view
    )
    match event:
        case TextDelta(message_id=message_id, text=text):
            before = view.text if message_id == progress.message_id else ""
            answering = replace(view, phase=Phase.ANSWERING, text=before + text)
            return replace(progress, view=answering, message_id=message_id)
        case ToolStarted(call_id=call_id, label=label):
            others = tuple(line for line in view.tools if line.id != call_id)
            line = ToolLine(call_id, label)
            return replace(progress, view=replace(view, phase=Phase.WORKING, tools=(*others, line)))
        case ToolFinished(call_id=call_id, ok=ok):
            lines = tuple(
                replace(line, done=True, ok=ok) if line.id == call_id else line for line in view.tools
            )
            return replace(progress, view=replace(view, tools=lines))
        case SubagentStarted(task_id=task_id):
            labels = {line.id: line.label for line in view.tools if line.id == task_id}
            return replace(progress, subagents={**labels, **progress.subagents})
        case SubagentTool(task_id=task_id, event=ToolStarted(label=label)):
            label = f"{progress.subagents.get(task_id, 'Subagent')} ({label})"
            return replace(progress, view=_relabelled(view, task_id, label))
        case SubagentEnded(task_id=task_id) if task_id in progress.subagents:
            return replace(progress, view=_relabelled(view, task_id, progress.subagents[task_id]))
        case (
            FilePresented()
            | TodosChanged()
            | SubagentStep()
            | SubagentText()
            | SubagentTool()
            | SubagentEnded()
        ):
            return progress
        case RunEnded(answer=answer):
            return replace(progress, view=replace(view, phase=Phase.DONE, text=answer))


def _thinking(progress: Progress, event: ReasoningDelta) -> Progress:
    """Show the end of what the model thinks, as the last thing it is busy with."""
    message_id, before = progress.thoughts
    text = (before if message_id == event.message_id else "") + event.text
    text = text[-_THOUGHT_CHARACTERS * 4 :]
    line = ToolLine(_THOUGHTS, f"Thinking: …{one_line(text, len(text))[-_THOUGHT_CHARACTERS:].lstrip()}")
    view = _without_thoughts(progress.view)
    return replace(progress, view=replace(view, tools=(*view.tools, line)), thoughts=(event.message_id, text))


def _without_thoughts(view: RunView) -> RunView:
    if not view.tools or view.tools[-1].id != _THOUGHTS:
        return view
    return replace(view, tools=view.tools[:-1])


def _relabelled(view: RunView, line_id: str, label: str) -> RunView:
    lines = (replace(line, label=label) if line.id == line_id else line for line in view.tools)
    return replace(view, tools=tuple(lines))


@asynccontextmanager
async def presenting(
    targets: Sequence[tuple[Channel, Address]], run_id: str, in_reply_to: str | None
) -> AsyncIterator[Callable[[RunEvent], None]]:
    """Show a run in its chats while the block runs; yields what to call with each event.

    A slow platform holds nothing up: it is shown the newest view when it is ready for one. However the
    block is left, the last view shown is a finished one.
    """
    stage = _Stage(Progress(RunView(run_id, in_reply_to)))
    shows = [asyncio.create_task(stage.show(channel, address)) for channel, address in targets]
    try:
        yield stage.on_event
    finally:
        for show in shows:
            show.cancel()
        await asyncio.gather(*shows, return_exceptions=True)
        await _show_last(targets, stage.last_view())


async def _show_last(targets: Sequence[tuple[Channel, Address]], view: RunView) -> None:
    """Show the end everywhere at once, for a moment at most: the answer waits for it."""
    lasts = [asyncio.create_task(channel.show(address, view)) for channel, address in targets]
    if not lasts:
        return
    _, late = await asyncio.wait(lasts, timeout=LAST_VIEW_SECONDS)
    for task in late:
        task.cancel()
    for result in await asyncio.gather(*lasts, return_exceptions=True):
        if isinstance(result, Exception):
            log.error("the end of a run could not be shown", exc_info=result)


class _Stage:
    """The newest view, and one task per chat that shows it."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._news = asyncio.Event()

    def on_event(self, event: RunEvent) -> None:
        before, self._progress = self._progress, fold(self._progress, event)
        if self._progress is before:
            return
        news, self._news = self._news, asyncio.Event()
        news.set()

    def last_view(self) -> RunView:
        return replace(self._progress.view, phase=Phase.DONE)

    async def show(self, channel: Channel, address: Address) -> None:
        while True:
            news = self._news
            await channel.show(address, self._progress.view)
            await news.wait()
