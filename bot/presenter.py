"""From what a run tells to what a chat shows."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from agent_core.events import FilePresented, RunEnded, RunEvent, TextDelta, ToolFinished, ToolStarted
from channels.channel import Channel
from channels.messages import Address
from channels.views import Phase, RunView, ToolLine

log = logging.getLogger(__name__)

LAST_VIEW_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Progress:
    """A view together with the message it is being written under."""

    view: RunView
    message_id: str | None = None


def fold(progress: Progress, event: RunEvent) -> Progress:
    """The progress after one more event. Pure; told the same event twice, nothing is shown twice."""
    view = progress.view
    match event:
        case TextDelta(message_id=message_id, text=text):
            before = view.text if message_id == progress.message_id else ""
            return Progress(replace(view, phase=Phase.ANSWERING, text=before + text), message_id)
        case ToolStarted(call_id=call_id, label=label):
            others = tuple(line for line in view.tools if line.id != call_id)
            line = ToolLine(call_id, label)
            return replace(progress, view=replace(view, phase=Phase.WORKING, tools=(*others, line)))
        case ToolFinished(call_id=call_id, ok=ok):
            lines = tuple(
                replace(line, done=True, ok=ok) if line.id == call_id else line for line in view.tools
            )
            return replace(progress, view=replace(view, tools=lines))
        case FilePresented():
            return progress
        case RunEnded(answer=answer):
            return replace(progress, view=replace(view, phase=Phase.DONE, text=answer))


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
        self._progress = fold(self._progress, event)
        news, self._news = self._news, asyncio.Event()
        news.set()

    def last_view(self) -> RunView:
        return replace(self._progress.view, phase=Phase.DONE)

    async def show(self, channel: Channel, address: Address) -> None:
        while True:
            news = self._news
            await channel.show(address, self._progress.view)
            await news.wait()
