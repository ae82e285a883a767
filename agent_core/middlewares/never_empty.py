"""Makes sure that a run ends with words."""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.ai import add_usage

NOTHING_TO_SAY = "I have no answer to give; the model returned nothing. Please ask again in other words."

_NUDGE = "<context>\nThe last answer was empty. Answer the message above in words.\n</context>"


class NeverEmptyMiddleware(AgentMiddleware[Any, Any, Any]):
    """Asks once more when a final answer is empty, then puts a sentence in its place."""

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model, twice if need be."""
        response = await handler(request)
        first = response.result[0]
        if not (isinstance(first, AIMessage) and is_empty(first)):
            return response
        retry = request.override(messages=[*request.messages, HumanMessage(_NUDGE)])
        response = await handler(retry)
        second = response.result[0]
        if not isinstance(second, AIMessage):
            return response
        update: dict[str, Any] = {"usage_metadata": add_usage(first.usage_metadata, second.usage_metadata)}
        if is_empty(second):
            update["content"] = NOTHING_TO_SAY
        return ModelResponse(result=[second.model_copy(update=update)])


def is_empty(message: AIMessage) -> bool:
    """Tell whether a message neither says nor calls anything. Pure."""
    return not (message.tool_calls or message.invalid_tool_calls or message.text.strip())
