"""Turns a tool's exception into an answer the model can act on, and stops a tool that takes too long."""

import asyncio
import logging
import re
from collections.abc import Mapping

from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langchain_core.tools import ToolException
from langgraph.errors import GraphBubbleUp
from pydantic import ValidationError

from agent_core.middlewares.layer import Layer, ToolHandler, ToolResult
from agent_core.text import one_line

_log = logging.getLogger(__name__)

_TEXT_LENGTH = 500
# Absolute paths of this machine; the virtual ones below /mnt are the model's own.
_REAL_PATH = re.compile(r"(?<![\w./:])/(?!mnt/(?:user-data|skills)\b)(?:[\w.@+-]+/)+[\w.@+-]*")


TIMEOUT_KEY = "timeout_seconds"
"""In a tool's ``metadata``: seconds one call may take, for tools that need more than others or less."""

DEFAULT_SECONDS = 300.0


class ToolErrorHandlingMiddleware(Layer):
    """Lets a run go on when a tool fails.

    LangChain's own class leaves the text to the caller and skips what pydantic refuses; this one
    decides it once for all tools.

    Args:
        seconds: How long a call may take.
        by_tool: The same for single tools; goes before what the tool itself says.
    """

    after = ("ToolOutputBudgetMiddleware", "GuardrailMiddleware")

    def __init__(self, seconds: float = DEFAULT_SECONDS, by_tool: Mapping[str, float] | None = None) -> None:
        super().__init__()
        self._seconds = seconds
        self._by_tool = by_tool or {}

    async def awrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> ToolResult:
        """Call the tool; answer for it if it raises or takes too long."""
        call = request.tool_call
        try:
            async with asyncio.timeout(self._limit(request)):
                return await handler(request)
        except GraphBubbleUp:
            # LangGraph's own signals (interrupts, commands to a parent) are no failures.
            raise
        except Exception as error:  # noqa: BLE001 - the border around tools of any origin
            expected = isinstance(error, ToolException | ValidationError | TimeoutError)
            if not expected:
                _log.warning("tool %s raised", call["name"], exc_info=error)
            return ToolMessage(
                error_text(call["name"], error), tool_call_id=call["id"], name=call["name"], status="error"
            )

    def _limit(self, request: ToolCallRequest) -> float:
        name = request.tool_call["name"]
        if name in self._by_tool:
            return self._by_tool[name]
        metadata = (request.tool.metadata if request.tool is not None else None) or {}
        return float(metadata.get(TIMEOUT_KEY, self._seconds))


def error_text(tool: str, error: Exception) -> str:
    """Say what went wrong in words for the model, without real paths or stack. Pure."""
    match error:
        case ToolException():
            # Raised on purpose, for the model to read.
            return _REAL_PATH.sub("(path)", str(error))[: _TEXT_LENGTH * 4] or f"{tool} failed"
        case ValidationError():
            problems = "; ".join(
                f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
                for problem in error.errors(include_url=False, include_context=False, include_input=False)
            )
            return f"{tool}: the arguments do not fit: {one_line(problems, _TEXT_LENGTH)}"
        case TimeoutError():
            return f"{tool} took too long and was stopped"
        case _:
            # The text of an unforeseen exception may hold anything, so only its kind is told.
            return f"{tool} failed ({type(error).__name__})"
