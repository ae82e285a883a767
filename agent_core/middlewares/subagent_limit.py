"""Bounds how many subagents work at once and in one run; a call too many is answered, not dropped."""

from collections.abc import Sequence

from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from agent_core.middlewares.layer import Layer, ToolHandler, ToolResult
from agent_core.middlewares.turn import current_turn
from agent_core.subagents.spec import TASK_TOOL

_AT_ONCE = (
    "Not started: at most {limit} subagents work at once. Call task again for this part when the others "
    "have reported, or do it yourself."
)
_PER_RUN = (
    "Not started: this request has had its {limit} subagents. Do the rest yourself, with what they have "
    "reported, and say in the answer what is left open."
)


class SubagentLimitMiddleware(Layer):
    """Answers in place of the ``task`` calls that are too many.

    Which they are is read off the turn's messages, so it is the same after a resume.

    Args:
        at_once: Calls in one response of the model.
        per_run: Calls in one run.
    """

    before = ("ToolErrorHandlingMiddleware",)

    def __init__(self, at_once: int, per_run: int) -> None:
        super().__init__()
        self._at_once = at_once
        self._per_run = per_run

    async def awrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> ToolResult:
        """Call the tool, or say why not."""
        call = request.tool_call
        if call["name"] != TASK_TOOL:
            return await handler(request)
        turn = current_turn(request.state["messages"])
        refused = refusals(turn, self._at_once, self._per_run).get(call["id"] or "")
        if refused is None:
            return await handler(request)
        return ToolMessage(refused, tool_call_id=call["id"], name=TASK_TOOL, status="error")


def refusals(turn: Sequence[AnyMessage], at_once: int, per_run: int) -> dict[str, str]:
    """Give, by id, what to answer to those ``task`` calls of the latest message that are too many. Pure."""
    begun = 0
    refused: dict[str, str] = {}
    for message in turn:
        if not isinstance(message, AIMessage):
            continue
        refused = {}
        # Decided before any of them begins, so by their order and not by who comes first.
        for number, call in enumerate(c for c in message.tool_calls if c["name"] == TASK_TOOL):
            if begun >= per_run:
                refused[call["id"] or ""] = _PER_RUN.format(limit=per_run)
            elif number >= at_once:
                refused[call["id"] or ""] = _AT_ONCE.format(limit=at_once)
            else:
                begun += 1
    return refused
