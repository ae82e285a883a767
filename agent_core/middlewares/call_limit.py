"""Bounds how many times one run may call the model."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

_WRAP_UP = (
    "<context>\nThis run has reached its limit of {limit} model calls. No tool can be used any more. "
    "Answer now: say what was done, what is missing, and how to go on.\n</context>"
)
_STOPPED = (
    "I stopped after {limit} steps, which is the limit for one request. Ask me to go on, or split the "
    "request into smaller ones."
)


class CallLimitMiddleware(AgentMiddleware[Any, Any, Any]):
    """After ``limit`` model calls gives the model one last call, without tools, to wrap up.

    LangChain's ``ModelCallLimitMiddleware`` uses node hooks (a checkpoint per call) and ends with a
    sentence that helps nobody. The count is read off the messages, so it holds after a resume.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model, or let it wrap up."""
        if calls_in_turn(request.messages) < self._limit:
            return await handler(request)
        nudge = HumanMessage(_WRAP_UP.format(limit=self._limit))
        # The tools stay in the request, so that the cached prefix holds; they are only closed.
        choice = "none" if request.tools else None
        response = await handler(request.override(messages=[*request.messages, nudge], tool_choice=choice))
        message = response.result[0]
        if isinstance(message, AIMessage) and (message.tool_calls or message.invalid_tool_calls):
            text = message.text.strip() or _STOPPED.format(limit=self._limit)
            closed = message.model_copy(
                update={
                    "content": text,
                    "tool_calls": [],
                    "invalid_tool_calls": [],
                    "additional_kwargs": {},
                }
            )
            return ModelResponse(result=[closed])
        return response


def calls_in_turn(messages: Sequence[AnyMessage]) -> int:
    """Count the model's messages since the last one of a person. Pure."""
    count = 0
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            break
        count += isinstance(message, AIMessage)
    return count
