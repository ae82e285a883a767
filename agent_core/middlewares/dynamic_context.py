"""Tells the model the date and what is remembered of the person, where it does not change the prompt."""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date, datetime, tzinfo

from langchain_core.messages import AnyMessage

from agent_core.context import RunContext
from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request, context_of
from agent_core.middlewares.reminders import remind_inside
from agent_core.middlewares.turn import begins_turn
from agent_core.state import Reminder
from agent_core.summary import visible

_log = logging.getLogger(__name__)

MemoryReader = Callable[[RunContext], Awaitable[str]]
"""Gives what is remembered for a run, as text for the model; empty for nothing. It decides by the
context whose memory may be told: in a group, nobody's private one."""

_DATE = re.compile(r"Today is \w+, (\d{4}-\d{2}-\d{2})")
_MEMORY = "What you remember about this person:"


class DynamicContextMiddleware(Layer):
    """Date and memory ride in the first message of a thread, a new date in the first one after midnight.

    After a summary they are told anew, since what the model was told before is no longer sent.
    So the system prompt is the same for everybody on every day, and what was sent once stays.

    Args:
        now: The clock.
        zone: Whose date is told.
        memory: Gives what is remembered, or None where nothing is.
    """

    before = ("ReminderMiddleware",)

    def __init__(self, now: Callable[[], datetime], zone: tzinfo, memory: MemoryReader | None = None) -> None:
        super().__init__()
        self._now = now
        self._zone = zone
        self._memory = memory

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Tell what the model does not know yet, then call it."""
        messages = request.state["messages"]
        if not begins_turn(messages):
            return await handler(request)
        today = self._now().astimezone(self._zone).date()
        seen = visible(messages, request.state.get("summary"))  # type: ignore[arg-type]
        told = date_told(seen, request.state.get("reminders", {}))  # type: ignore[arg-type]
        if told == today:
            return await handler(request)
        text = f"Today is {today:%A}, {today.isoformat()} ({self._zone})."
        if told is None and (remembered := await self._remembered(context_of(request))):
            text = f"{text}\n\n{_MEMORY}\n{remembered}"
        return await handler(remind_inside(request, text))

    async def _remembered(self, context: RunContext) -> str:
        if self._memory is None:
            return ""
        try:
            return (await self._memory(context)).strip()
        except Exception:  # noqa: BLE001 - a reader of whatever origin
            # An answer without memory is better than none.
            _log.exception("memory could not be read for run %s", context.run_id)
            return ""


def date_told(messages: Sequence[AnyMessage], reminders: Mapping[str, Sequence[Reminder]]) -> date | None:
    """Give the date the model was told last in these messages; None when it was never told. Pure."""
    for message in reversed(messages):
        for reminder in reminders.get(message.id or "", ()):
            if found := _DATE.match(reminder["text"]):
                return date.fromisoformat(found[1])
    return None
