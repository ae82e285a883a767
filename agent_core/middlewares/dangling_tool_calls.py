"""Makes sure that every tool call in a request has its answer right behind it.

Providers refuse a request otherwise. Runs are repaired when they end (``turns.py``); this is the
last defence, for histories that came to be in another way.
"""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request

NO_RESULT = "This call was interrupted; it has no result. It may or may not have taken effect."


class DanglingToolCallMiddleware(Layer):
    """Repairs what is sent to the model; the stored history stays as it is."""

    before = ("ReminderMiddleware", "LLMErrorHandlingMiddleware")

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Repair the messages if they need it, then call the model."""
        if is_sound(request.messages):
            return await handler(request)
        return await handler(request.override(messages=repaired(request.messages)))


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
