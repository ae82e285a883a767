"""Many layers as one middleware.

LangChain puts a tracing wrapper around each hook of each middleware, which costs some 0.7 ms a hook
even when nothing is traced: with twenty layers more than all that the layers do. Composed by
ourselves they are plain function calls.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ExtendedModelResponse, ToolCallRequest
from langchain_core.messages import AIMessage
from langgraph.types import Command

from agent_core.middlewares.layer import Answer, ModelHandler, Request, Response, ToolHandler, ToolResult

Middleware = AgentMiddleware[Any, Any, Any]

_NODE_HOOKS = ("before_agent", "before_model", "after_model", "after_agent")


def composed(chain: Sequence[Middleware]) -> list[Middleware]:
    """Put neighbours that only wrap calls into one; what has hooks that are graph nodes stays alone."""
    result: list[Middleware] = []
    group: list[Middleware] = []
    for layer in chain:
        if _has_nodes(layer) or not _is_async(layer):
            result += _closed(group, len(result))
            result.append(layer)
            group = []
        else:
            group.append(layer)
    return result + _closed(group, len(result))


class ComposedMiddleware(AgentMiddleware[Any, Any, Any]):
    """Runs layers around each other, the first outermost.

    Args:
        layers: Each with asynchronous wrap hooks and no other.
        number: Tells several of one agent apart.
    """

    def __init__(self, layers: Sequence[Middleware], number: int) -> None:
        super().__init__()
        self._number = number
        self.tools = [tool for layer in layers for tool in getattr(layer, "tools", ())]
        self._around_models = [layer for layer in layers if _overrides(layer, "awrap_model_call")]
        self._around_tools = [layer for layer in layers if _overrides(layer, "awrap_tool_call")]

    @property
    def name(self) -> str:
        """Unique within an agent, as LangChain wants it."""
        return f"{type(self).__name__}{self._number}"

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Call the model through all layers, and gather what they want to write into the state."""
        response, updates = await self._model_call(0, request, handler)
        if not updates:
            return response
        # Pairs and not a mapping: two layers may write to one channel, whose reducer joins them.
        return ExtendedModelResponse(model_response=response, command=Command(update=updates))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> ToolResult:
        """Call the tool through all layers."""
        for layer in reversed(self._around_tools):
            handler = partial(layer.awrap_tool_call, handler=handler)
        return await handler(request)

    async def _model_call(
        self, index: int, request: Request, handler: ModelHandler
    ) -> tuple[Response, list[tuple[str, Any]]]:
        if index == len(self._around_models):
            return await handler(request), []
        inside: list[tuple[str, Any]] = []

        async def inner(inner_request: Request) -> Response:
            # A layer that calls twice has thrown the first answer away, and what came with it.
            response, updates = await self._model_call(index + 1, inner_request, handler)
            inside[:] = updates
            return response

        answer = await self._around_models[index].awrap_model_call(request, inner)
        if isinstance(answer, ExtendedModelResponse):
            return answer.model_response, inside + _updates(answer.command)
        if isinstance(answer, AIMessage):
            return Response(result=[answer]), inside
        return answer, inside


def _updates(command: Command[Any] | None) -> list[tuple[str, Any]]:
    if command is None or command.update is None:
        return []
    return list(command.update.items()) if isinstance(command.update, dict) else list(command.update)


def _closed(group: Sequence[Middleware], number: int) -> list[Middleware]:
    return [ComposedMiddleware(group, number)] if group else []


def _has_nodes(layer: Middleware) -> bool:
    return any(_overrides(layer, hook) or _overrides(layer, f"a{hook}") for hook in _NODE_HOOKS)


def _is_async(layer: Middleware) -> bool:
    return all(
        _overrides(layer, f"a{hook}") or not _overrides(layer, hook)
        for hook in ("wrap_model_call", "wrap_tool_call")
    )


def _overrides(layer: Middleware, hook: str) -> bool:
    return getattr(type(layer), hook) is not getattr(AgentMiddleware, hook)
