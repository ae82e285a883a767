"""The middlewares of the lead agent, in their one order."""

from typing import Any

from langchain.agents.middleware import AgentMiddleware

from agent_core.middlewares.call_limit import CallLimitMiddleware
from agent_core.middlewares.dangling_tool_calls import DanglingToolCallMiddleware
from agent_core.middlewares.fence_check import FenceMiddleware
from agent_core.middlewares.llm_errors import LlmErrorMiddleware
from agent_core.middlewares.never_empty import NeverEmptyMiddleware
from agent_core.middlewares.tool_errors import ToolErrorMiddleware

Chain = list[AgentMiddleware[Any, Any, Any]]


def build_chain(max_model_calls: int, llm_errors: LlmErrorMiddleware) -> Chain:
    """Give the chain; the first is the outermost.

    Args:
        max_model_calls: Per run.
        llm_errors: Made by the caller, since it belongs to one model.
    """
    return [
        DanglingToolCallMiddleware(),
        # Counts calls as the history shows them, so outside of what asks again.
        CallLimitMiddleware(max_model_calls),
        NeverEmptyMiddleware(),
        llm_errors,
        ToolErrorMiddleware(),
        # Innermost: asked again before each retry, and right before the act.
        FenceMiddleware(),
    ]
