"""What all layers of the chain have in common."""

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, cast

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ExtendedModelResponse, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from agent_core.context import RunContext

Request = ModelRequest[Any]
Response = ModelResponse[Any]
Answer = ModelResponse[Any] | ExtendedModelResponse[Any]
ModelHandler = Callable[[Request], Awaitable[Response]]
ToolResult = ToolMessage | Command[Any]
ToolHandler = Callable[[ToolCallRequest], Awaitable[ToolResult]]


def context_of(request: Request | ToolCallRequest) -> RunContext:
    """Give what is known about the run a request belongs to."""
    return cast("RunContext", request.runtime.context)


ALL = "*"
"""In :attr:`Layer.before` or :attr:`Layer.after`: every other layer."""


class Layer(AgentMiddleware[Any, Any, Any]):
    """A middleware that says where in the chain it belongs.

    The first of the chain is the outermost: it sees a request first and its answer last.

    Attributes:
        before: Names of the layers this one must stand before, or ``ALL``. Names that are not in
            the chain are passed over.
        after: Names of the layers this one must stand after, or ``ALL``.
    """

    before: ClassVar[tuple[str, ...]] = ()
    after: ClassVar[tuple[str, ...]] = ()
