"""Asks, before a tool is called, whether it may be."""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp

from agent_core.context import RunContext
from agent_core.middlewares.layer import Layer, ToolHandler, ToolResult, context_of

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a guardrail says about a call.

    Args:
        allowed: The call may be made.
        reason: For the model, when it may not.
    """

    allowed: bool
    reason: str = ""


class GuardrailProvider(Protocol):
    """Decides about tool calls."""

    async def rule(self, tool: str, arguments: Mapping[str, Any], context: RunContext) -> Ruling:
        """Decide about one call.

        Args:
            tool: Name of the tool.
            arguments: As the model gave them: not to be trusted.
            context: The run, and who asked for it.
        """


class ToolListGuardrail:
    """Decides by the tool's name.

    Args:
        denied: Never allowed.
        allowed: If given, nothing else is.
    """

    def __init__(self, denied: Collection[str] = (), allowed: Collection[str] | None = None) -> None:
        self._denied = frozenset(denied)
        self._allowed = None if allowed is None else frozenset(allowed)

    async def rule(self, tool: str, arguments: Mapping[str, Any], context: RunContext) -> Ruling:
        """See :class:`GuardrailProvider`."""
        if tool in self._denied or (self._allowed is not None and tool not in self._allowed):
            return Ruling(allowed=False, reason="whoever runs this system does not allow this tool")
        return Ruling(allowed=True)


class GuardrailMiddleware(Layer):
    """Answers in place of a tool that may not be called.

    A provider that fails allows nothing.

    Args:
        providers: All must allow a call; None stands for none.
    """

    def __init__(self, *providers: GuardrailProvider | None) -> None:
        super().__init__()
        self._providers = [provider for provider in providers if provider is not None]

    async def awrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> ToolResult:
        """Ask, then call the tool or say why not."""
        call = request.tool_call
        ruling = await self._ruling(call["name"], call["args"], context_of(request))
        if ruling.allowed:
            return await handler(request)
        _log.info("a call of %s was not allowed: %s", call["name"], ruling.reason)
        text = f"{call['name']} was not called: {ruling.reason}. Do without it, and say so if it matters."
        return ToolMessage(text, tool_call_id=call["id"], name=call["name"], status="error")

    async def _ruling(self, tool: str, arguments: Mapping[str, Any], context: RunContext) -> Ruling:
        for provider in self._providers:
            try:
                ruling = await provider.rule(tool, arguments, context)
            except GraphBubbleUp:
                raise
            except Exception:  # noqa: BLE001 - a provider of whatever origin
                _log.exception("the guardrail failed on a call of %s", tool)
                return Ruling(allowed=False, reason="it could not be checked whether it is allowed")
            if not ruling.allowed:
                return ruling
        return Ruling(allowed=True)
