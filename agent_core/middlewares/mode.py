"""Keeps a run to its mode: closes tools, and has the model think or not."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, ToolMessage

from agent_core.middlewares.layer import (
    Answer,
    Layer,
    ModelHandler,
    Request,
    ToolHandler,
    ToolResult,
    context_of,
)
from agent_core.middlewares.reminders import remind_inside, reminders_of
from agent_core.middlewares.turn import begins_turn
from agent_core.modes import Mode
from agent_core.state import Reminder

_TOLD = re.compile(rf"Mode: ({'|'.join(Mode)})\.")
_CLOSED = "Mode: {mode}. Closed from here on, do without: {tools}."
_OPEN = "Mode: {mode}. No tool is closed any more."
_REFUSED = "{tool} was not called: it is closed in the mode {mode}. Do the work without it."


class ModeMiddleware(Layer):
    """Closes the tools that are off in the run's mode.

    They stay in the request, so that the mode changes nothing that providers cache. The model is told in
    a person's new message, and only when what is closed has changed.
    """

    before = ("ReminderMiddleware", "ToolErrorHandlingMiddleware")
    after = ("DynamicContextMiddleware",)

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Tell the model what is closed if it does not know, then call it."""
        messages = request.state["messages"]
        if not begins_turn(messages):
            return await handler(request)
        mode = context_of(request).mode
        if told_mode(messages, reminders_of(request)).closed_tools == mode.closed_tools:
            return await handler(request)
        text = _CLOSED if mode.closed_tools else _OPEN
        told = text.format(mode=mode, tools=", ".join(mode.closed_tools))
        return await handler(remind_inside(request, told))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> ToolResult:
        """Call the tool, or say that it is closed."""
        call = request.tool_call
        mode = context_of(request).mode
        if call["name"] not in mode.closed_tools:
            return await handler(request)
        text = _REFUSED.format(tool=call["name"], mode=mode)
        return ToolMessage(text, tool_call_id=call["id"], name=call["name"], status="error")


class ThinkingMiddleware(Layer):
    """Has the model think, or not, as the run's mode says.

    Args:
        arguments: Gives what is added to a call of a model, by whether it is to think.
    """

    # A fallback model is told in its own words.
    after = ("LLMErrorHandlingMiddleware",)

    def __init__(self, arguments: Callable[[BaseChatModel, bool], Mapping[str, Any]]) -> None:
        super().__init__()
        self._arguments = arguments

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Call the model with what its thinking needs."""
        arguments = self._arguments(request.model, context_of(request).mode.thinks)
        if not arguments:
            return await handler(request)
        return await handler(request.override(model_settings={**request.model_settings, **arguments}))


def told_mode(messages: Sequence[AnyMessage], reminders: Mapping[str, Sequence[Reminder]]) -> Mode:
    """Give the mode the model was told last in these messages; told none, it has everything. Pure."""
    for message in reversed(messages):
        for reminder in reminders.get(message.id or "", ()):
            if found := _TOLD.match(reminder["text"]):
                return Mode(found[1])
    return Mode.ULTRA
