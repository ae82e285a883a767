"""Goes on when a conversation no longer fits into the model, with less of it."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain.agents.middleware.types import ExtendedModelResponse
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.types import Command

from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request
from agent_core.middlewares.reminders import remind
from agent_core.models.errors import ModelFailedError, ModelFault

_log = logging.getLogger(__name__)

_CLEARED = (
    "(This result was taken out because the conversation became too long. Get it again if you need it.)"
)
_CLEAR_ABOVE = 400
_CUT = (
    "The conversation had become too long for the model, so its older part was taken out. If something you "
    "need is missing, say so or look it up again."
)


@dataclass(frozen=True, slots=True)
class Cut:
    """What to take out of a history.

    Args:
        dropped: Ids of messages to drop.
        cleared: Ids of tool results whose text to drop.
    """

    dropped: frozenset[str] = field(default_factory=frozenset)
    cleared: frozenset[str] = field(default_factory=frozenset)


class ContextOverflowMiddleware(Layer):
    """The last resort, for when the provider refuses a request as too long.

    Summarizing comes long before, by estimate; estimates can be wrong. What is taken out here is taken
    out of the stored thread too, or else each further message would fail first.
    """

    before = ("ReminderMiddleware", "LLMErrorHandlingMiddleware")

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Call the model; on overflow again with half of the history, then with this turn alone.

        Raises:
            ModelFailedError: As the model's; what this turn needs is too long by itself.
        """
        try:
            return await handler(request)
        except ModelFailedError as error:
            if error.fault is not ModelFault.TOO_LONG:
                raise
            failure = error
        # Of what is stored only that counts which was sent: a summary may stand for the rest.
        sent = {message.id for message in request.messages}
        history = [message for message in request.state["messages"] if message.id in sent]
        for cut in (half(history), turn_alone(history)):
            if cut == Cut():
                continue
            _log.info("too long for the model: dropping %d messages", len(cut.dropped))
            shorter = remind(request.override(messages=without(request.messages, cut)), _CUT)
            try:
                response = await handler(shorter)
            except ModelFailedError as error:
                if error.fault is not ModelFault.TOO_LONG:
                    raise
                failure = error
                continue
            return ExtendedModelResponse(
                model_response=response, command=Command(update=_update(history, cut))
            )
        raise failure


def half(messages: Sequence[AnyMessage]) -> Cut:
    """Take out the older half by length, in whole turns, and all but the newest tool results. Pure."""
    starts = [index for index, message in enumerate(messages) if isinstance(message, HumanMessage)]
    total = sum(_length(message) for message in messages)
    dropped_until = 0
    for start in starts[1:]:
        dropped_until = start
        if sum(_length(message) for message in messages[:start]) * 2 >= total:
            break
    return _cut(messages, dropped_until, keep_batches=2)


def turn_alone(messages: Sequence[AnyMessage]) -> Cut:
    """Take out all but the turn that is going on, and all but its newest tool results. Pure."""
    start = max((i for i, m in enumerate(messages) if isinstance(m, HumanMessage)), default=0)
    return _cut(messages, start, keep_batches=1)


def without(messages: Sequence[AnyMessage], cut: Cut) -> list[AnyMessage]:
    """Give the history after a cut. Pure."""
    return [
        message.model_copy(update={"content": _CLEARED}) if message.id in cut.cleared else message
        for message in messages
        if message.id not in cut.dropped
    ]


def _cut(messages: Sequence[AnyMessage], start: int, keep_batches: int) -> Cut:
    batches = [index for index, m in enumerate(messages) if isinstance(m, AIMessage) and m.tool_calls]
    newest = batches[-keep_batches] if len(batches) >= keep_batches else 0
    return Cut(
        dropped=frozenset(m.id for m in messages[:start] if m.id),
        cleared=frozenset(
            m.id
            for m in messages[start:newest]
            if m.id and isinstance(m, ToolMessage) and _length(m) > _CLEAR_ABOVE
        ),
    )


def _length(message: AnyMessage) -> int:
    calls = (
        sum(len(str(call["args"])) for call in message.tool_calls) if isinstance(message, AIMessage) else 0
    )
    return len(message.text) + calls


def _update(history: Sequence[AnyMessage], cut: Cut) -> dict[str, Any]:
    removed = [RemoveMessage(id=message_id) for message_id in cut.dropped]
    cleared = [
        message.model_copy(update={"content": _CLEARED}) for message in history if message.id in cut.cleared
    ]
    return {"messages": [*removed, *cleared], "reminders": {message_id: [] for message_id in cut.dropped}}
