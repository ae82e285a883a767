"""The middlewares of the lead agent, in their one order."""

from typing import Any

from langchain.agents.middleware import AgentMiddleware

from agent_core.middlewares.call_limit import CallLimitMiddleware
from agent_core.middlewares.dangling_tool_calls import DanglingToolCallMiddleware
from agent_core.middlewares.fence_check import FenceMiddleware
from agent_core.middlewares.input_sanitization import InputSanitizationMiddleware
from agent_core.middlewares.llm_error_handling import LLMErrorHandlingMiddleware
from agent_core.middlewares.loop_detection import LoopDetectionMiddleware, LoopLimits
from agent_core.middlewares.order import check_order
from agent_core.middlewares.reminders import ReminderMiddleware
from agent_core.middlewares.terminal_response import TerminalResponseMiddleware
from agent_core.middlewares.tool_error_handling import ToolErrorHandlingMiddleware
from agent_core.middlewares.uploads import UploadsMiddleware

Chain = list[AgentMiddleware[Any, Any, Any]]


def build_chain(max_model_calls: int, llm_errors: LLMErrorHandlingMiddleware) -> Chain:
    """Give the chain; the first is the outermost.

    Args:
        max_model_calls: Per run.
        llm_errors: Made by the caller, since it belongs to one model.

    Raises:
        ChainOrderError: The list below is in a wrong order.
    """
    chain: Chain = [
        InputSanitizationMiddleware(),
        UploadsMiddleware(),
        DanglingToolCallMiddleware(),
        CallLimitMiddleware(max_model_calls),
        LoopDetectionMiddleware(LoopLimits()),
        TerminalResponseMiddleware(),
        ReminderMiddleware(),
        llm_errors,
        ToolErrorHandlingMiddleware(),
        FenceMiddleware(),
    ]
    check_order(chain)
    return chain
