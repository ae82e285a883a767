"""Asks the fence before each model call and each tool call."""

from langchain.agents.middleware.types import ToolCallRequest

from agent_core import fence
from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request, ToolHandler, ToolResult


class FenceMiddleware(Layer):
    """Stops a run that is no longer ours before it costs or changes anything."""

    # Asked again before each retry, and right before the act.
    after = ("LLMErrorHandlingMiddleware", "ToolErrorHandlingMiddleware", "GuardrailMiddleware")

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Ask, then call the model."""
        fence.check()
        return await handler(request)

    async def awrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> ToolResult:
        """Ask, then call the tool."""
        fence.check()
        return await handler(request)
