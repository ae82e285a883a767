"""Judges commands before they reach the sandbox."""

import asyncio
import logging
from typing import Any

from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage

from agent_core.middlewares.layer import Layer, ToolHandler, ToolResult
from agent_core.sandbox.audit import Level, Verdict, judge

_log = logging.getLogger(__name__)

_AUDITED = "bash"
# Longer ones may take some tenths of a second.
_SHORT = 1_000


class SandboxAuditMiddleware(Layer):
    """Stops commands that no honest task needs, and adds a warning to the result of doubtful ones.

    The operator's log names the run and the reason, never the command, which may hold secrets.
    """

    before = ("ReadBeforeWriteMiddleware", "ToolErrorHandlingMiddleware", "FenceMiddleware")

    async def awrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> ToolResult:
        """Judge a command; run it or answer for it."""
        call = request.tool_call
        command = call["args"].get("command")
        if call["name"] != _AUDITED or not isinstance(command, str):
            return await handler(request)
        verdict = judge(command) if len(command) < _SHORT else await asyncio.to_thread(judge, command)
        if verdict.level is not Level.PASS:
            _log.warning(
                "run %s: a command is %s: %s", _run_id(request), verdict.level.name, _reasons(verdict)
            )
        if verdict.level is Level.BLOCK:
            return ToolMessage(
                f"The command was not run: {_reasons(verdict)}. "
                "Find another way, or say that it cannot be done.",
                tool_call_id=call["id"],
                name=call["name"],
                status="error",
            )
        result = await handler(request)
        if verdict.level is Level.WARN and isinstance(result, ToolMessage):
            return result.model_copy(update={"content": f"{result.text}\n(Warning: {_reasons(verdict)}.)"})
        return result


def _reasons(verdict: Verdict) -> str:
    return "; ".join(verdict.reasons)


def _run_id(request: ToolCallRequest) -> Any:
    return getattr(request.runtime.context, "run_id", "?")
