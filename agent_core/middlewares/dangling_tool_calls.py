"""Makes sure that every tool call in a request has its answer right behind it.

Providers refuse a request otherwise. Runs are repaired when they end (``turns.py``); this is the
last defence, for histories that came to be in another way. Calls that cannot be made, because their
arguments cannot be read, are answered at once.
"""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.messages.tool import ToolCall

from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request, Response
from agent_core.middlewares.responses import spoken

_UNREADABLE = "Not called: the arguments are no valid JSON object. Correct them and call again."

NO_RESULT = "This call was interrupted; it has no result. It may or may not have taken effect."


class DanglingToolCallMiddleware(Layer):
    """Repairs what is sent to the model; the stored history stays as it is."""

    before = ("ReminderMiddleware", "LLMErrorHandlingMiddleware")

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Repair the messages if they need it, then call the model."""
        if not is_sound(request.messages):
            request = request.override(messages=repaired(request.messages))
        return _readable(await handler(request))


def open_calls(message: AIMessage) -> list[tuple[str, str]]:
    """Give id and name of each call a message makes; calls with broken arguments count too."""
    calls = [*message.tool_calls, *message.invalid_tool_calls]
    return [(call["id"], call["name"] or "unknown") for call in calls if call["id"]]


def is_sound(messages: Sequence[AnyMessage]) -> bool:
    """Tell whether each call is answered once, at once, and nothing else is. Pure."""
    waiting: set[str] = set()
    for message in messages:
        if isinstance(message, ToolMessage):
            if message.tool_call_id not in waiting:
                return False
            waiting.discard(message.tool_call_id)
        elif waiting:
            return False
        elif isinstance(message, AIMessage):
            waiting = {call_id for call_id, _ in open_calls(message)}
    return not waiting


def repaired(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Put each answer behind its call, say so where there is none, drop answers to nothing. Pure."""
    result: list[AnyMessage] = []
    for index, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            continue
        result.append(message)
        if isinstance(message, AIMessage):
            result += _answers(message, messages[index + 1 :])
    return result


def _readable(response: Response) -> Response:
    """Answer calls whose arguments cannot be read; LangChain ends the run when there are no others."""
    message = spoken(response)
    broken = message.invalid_tool_calls
    if not broken:
        return response
    calls: list[ToolCall] = [
        {"name": call["name"] or "unknown", "args": {}, "id": call["id"], "type": "tool_call"}
        for call in broken
    ]
    answered = {m.tool_call_id for m in response.result if isinstance(m, ToolMessage)}
    answers = [
        ToolMessage(_UNREADABLE, tool_call_id=call["id"], name=call["name"], status="error")
        for call in calls
        if call["id"] not in answered
    ]
    whole = message.model_copy(update={"tool_calls": [*message.tool_calls, *calls], "invalid_tool_calls": []})
    return Response(result=[whole, *answers, *response.result[1:]])


def _answers(message: AIMessage, later: Sequence[AnyMessage]) -> list[ToolMessage]:
    found: dict[str, ToolMessage] = {}
    for candidate in later:
        if isinstance(candidate, AIMessage) and open_calls(candidate):
            # Ids are only unique within one message with some providers.
            break
        if isinstance(candidate, ToolMessage):
            found.setdefault(candidate.tool_call_id, candidate)
    return [
        found.get(call_id) or ToolMessage(NO_RESULT, tool_call_id=call_id, name=name, status="error")
        for call_id, name in open_calls(message)
    ]
