"""Reading a stored conversation: where a run stands, what it said, what it cost. Pure.

A turn is one person's message, whose id is the run id, and all that follows it up to the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from agent_core.events import Usage
from agent_core.human_message import said_in
from agent_core.middlewares.dangling_tool_calls import NO_RESULT, open_calls
from agent_core.models import prices
from agent_core.subagents.record import charged

Role = Literal["person", "hart"]

# Kept in ``response_metadata``, which is stored but never sent to a provider.
_FAILED = "hart_failed"


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a conversation, for people to read."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Ending:
    """How a finished turn ended.

    Args:
        answer: The last words.
        error: What went wrong, for the log, when the model had failed for good.
    """

    answer: str
    error: str | None = None


def turn_of(messages: Sequence[AnyMessage], run_id: str) -> Sequence[AnyMessage] | None:
    """Give what followed the message ``run_id``; None when that message is not there."""
    for index in range(len(messages) - 1, -1, -1):
        if isinstance(messages[index], HumanMessage) and messages[index].id == run_id:
            return messages[index + 1 :]
    return None


def ending(turn: Sequence[AnyMessage]) -> Ending | None:
    """Give how a turn ended, or None when its last message is no answer."""
    last = turn[-1] if turn else None
    if not isinstance(last, AIMessage) or open_calls(last):
        return None
    return Ending(last.text.strip(), last.response_metadata.get(_FAILED))


def closing(turn: Sequence[AnyMessage], note: str, error: str | None = None) -> list[AnyMessage]:
    """Give the messages that end an unfinished turn: answers to open calls, then ``note``.

    Results of calls that had finished are kept. The same turn always gives the same messages and
    ids, so that doing it twice adds nothing.
    """
    messages: list[AnyMessage] = []
    last = max((i for i, m in enumerate(turn) if isinstance(m, AIMessage)), default=None)
    if last is not None:
        message = turn[last]
        assert isinstance(message, AIMessage)
        results = {m.tool_call_id: m for m in turn[last + 1 :] if isinstance(m, ToolMessage)}
        messages += [
            results.get(call_id)
            or ToolMessage(NO_RESULT, tool_call_id=call_id, name=name, status="error", id=f"closed-{call_id}")
            for call_id, name in open_calls(message)
        ]
    metadata = {_FAILED: error} if error is not None else {}
    messages.append(AIMessage(note, response_metadata=metadata))
    return messages


def usage(turn: Sequence[AnyMessage]) -> Usage:
    """Add up what the providers counted for the model calls of a turn and of its subagents."""
    total = Usage()
    for message in turn:
        if (subagent := charged(message)) is not None:
            total = replace(
                total,
                input_tokens=total.input_tokens + subagent.input_tokens,
                output_tokens=total.output_tokens + subagent.output_tokens,
                cached_tokens=total.cached_tokens + subagent.cached_tokens,
                cost=prices.total(total.cost, subagent.cost),
            )
        counted = message.usage_metadata if isinstance(message, AIMessage) else None
        if counted is None:
            continue
        total = Usage(
            input_tokens=total.input_tokens + counted["input_tokens"],
            output_tokens=total.output_tokens + counted["output_tokens"],
            cached_tokens=total.cached_tokens
            + (counted.get("input_token_details", {}).get("cache_read") or 0),
            context_tokens=counted["input_tokens"] + counted["output_tokens"],
            cost=prices.total(total.cost, prices.cost_of(message)),
        )
    return total


def conversation(messages: Sequence[AnyMessage]) -> list[Said]:
    """Give what was said, without tool calls and their results."""
    said = []
    for message in messages:
        text = message.text.strip()
        if isinstance(message, HumanMessage):
            said.append(Said("person", said_in(message)))
        elif isinstance(message, AIMessage) and text and not open_calls(message):
            said.append(Said("hart", text))
    return said
