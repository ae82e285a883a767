"""Notices a run that goes in circles, says so to the model, and ends it if that does not help."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage

from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request
from agent_core.middlewares.reminders import remind
from agent_core.middlewares.responses import charged, spoken
from agent_core.middlewares.turn import current_turn
from agent_core.middlewares.wrap_up import wrap_up

_BUCKET_LINES = 200
_DEFAULT_READ_LINES = 1_000

_REPEATED = (
    "You have made the same tool calls {count} times, and they will not give anything new. Use what you "
    "have, or try something else. At {stop} times the run is ended."
)
_FREQUENT = (
    "You have called {name} {count} times for this request. Come to an answer, or do more in one call. "
    "At more than {stop} times the run is ended."
)
_WHY = "This run is ended because it goes in circles: {detail}."
_STOPPED = (
    "I stopped because I was going in circles: {detail}. Tell me what to do differently, or ask for a "
    "smaller step."
)


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """When a run counts as going in circles.

    Args:
        warn: Equal calls after which the model is told.
        stop: Equal calls at which the run is ended; the last of them is not made.
        window: How many of the model's latest messages are looked at for equal calls.
        tool_warn: Calls of one tool in a run after which the model is told.
        tool_stop: Calls of one tool in a run after which it is ended.
    """

    warn: int = 3
    stop: int = 5
    window: int = 20
    tool_warn: int = 30
    tool_stop: int = 50


class LoopDetectionMiddleware(Layer):
    """Two layers: equal calls within a window, and calls of one tool.

    All is read off the turn's messages, so it holds after a resume and needs no memory.
    """

    # What the model may not do for safety's sake is no loop; so it is judged after that.
    before = ("ReminderMiddleware", "SafetyFinishReasonMiddleware")

    def __init__(self, limits: LoopLimits) -> None:
        super().__init__()
        self._limits = limits

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Tell the model if it has begun to repeat itself; end the run if it goes on."""
        turn = _speech(current_turn(request.state["messages"]))
        asked = request
        if (told := warning(turn, self._limits)) is not None:
            asked = remind(request, told)
        response = await handler(asked)
        detail = verdict([*turn, spoken(response)], self._limits)
        if detail is None:
            return response
        why, stopped = _WHY.format(detail=detail), _STOPPED.format(detail=detail)
        return charged(await wrap_up(asked, handler, why, stopped), response)


def warning(turn: Sequence[AIMessage], limits: LoopLimits) -> str | None:
    """Give what to tell the model after its latest message, if that has just reached a limit. Pure."""
    if not turn or not turn[-1].tool_calls:
        return None
    equal = _equal_to_last(turn, limits.window)
    if equal == limits.warn:
        return _REPEATED.format(count=equal, stop=limits.stop)
    before, now = _by_tool(turn[:-1]), _by_tool(turn)
    for name in dict.fromkeys(call["name"] for call in turn[-1].tool_calls):
        if before[name] < limits.tool_warn <= now[name]:
            return _FREQUENT.format(name=name, count=now[name], stop=limits.tool_stop)
    return None


def verdict(turn: Sequence[AIMessage], limits: LoopLimits) -> str | None:
    """Say why the latest message must not be acted on; None when it may be. Pure."""
    if not turn or not turn[-1].tool_calls:
        return None
    names = list(dict.fromkeys(call["name"] for call in turn[-1].tool_calls))
    equal = _equal_to_last(turn, limits.window)
    if equal >= limits.stop:
        return f"the same call of {', '.join(names)} came {equal} times"
    counts = _by_tool(turn)
    for name in names:
        if counts[name] > limits.tool_stop:
            return f"{name} was called more than {limits.tool_stop} times"
    return None


def signature(message: AIMessage) -> str:
    """Give a hash that is equal for messages that call the same tools with the same arguments. Pure.

    The order of calls and of arguments does not matter. Of a read only the file and the blocks of
    200 lines it touches count, so that reading on is no repetition and shifting by a line is one.
    """
    calls = sorted(
        json.dumps([call["name"], _essence(call["name"], call["args"])], sort_keys=True, default=str)
        for call in message.tool_calls
    )
    return hashlib.sha256("\n".join(calls).encode(errors="replace")).hexdigest()


def _essence(tool: str, arguments: Mapping[str, Any]) -> Any:
    if tool != "read_file":
        return arguments
    first = _number(arguments.get("offset") or arguments.get("start_line"), 1)
    last = _number(
        arguments.get("end_line"), first + _number(arguments.get("limit"), _DEFAULT_READ_LINES) - 1
    )
    return [arguments.get("path"), (first - 1) // _BUCKET_LINES, (last - 1) // _BUCKET_LINES]


def _number(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and value > 0 else otherwise


def _speech(messages: Sequence[AnyMessage]) -> list[AIMessage]:
    return [message for message in messages if isinstance(message, AIMessage)]


def _equal_to_last(turn: Sequence[AIMessage], window: int) -> int:
    wanted = signature(turn[-1])
    return sum(bool(m.tool_calls) and signature(m) == wanted for m in turn[-window:])


def _by_tool(turn: Sequence[AIMessage]) -> Counter[str]:
    return Counter(call["name"] for message in turn for call in message.tool_calls)
