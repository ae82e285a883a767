"""Lets the system tell the model things in between, and keeps what it told.

A reminder that were only put into one request would be gone from the next, and everything behind it
would miss the provider's cache. So each is stored with the id of the message it stands at, and put
there again in every later request.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain.agents.middleware.types import ExtendedModelResponse
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langgraph.types import Command

from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request
from agent_core.state import Reminder, merge_reminders
from agent_core.tags import REMINDER, tagged, untagged

Reminders = Mapping[str, Sequence[Reminder]]

# In the state of a request on its way through the chain; never in the stored one.
_NEW = "new_reminders"


def remind(request: Request, text: str) -> Request:
    """Give the request with a reminder as its last message; what it quotes cannot end it."""
    return _with(request, Reminder(text=untagged(text), place="after"))


def remind_inside(request: Request, text: str) -> Request:
    """Give the request with a reminder at the head of its last message.

    Only for a message that no request has held yet, such as a person's new one.
    """
    return _with(request, Reminder(text=untagged(text), place="inside"))


def _with(request: Request, reminder: Reminder) -> Request:
    last = request.state["messages"][-1].id
    if last is None:
        return request
    new = merge_reminders(_new(request), {last: [reminder]})
    state: Any = {**request.state, _NEW: new}
    return request.override(state=state)


def _new(request: Request) -> Reminders:
    found: Reminders = request.state.get(_NEW, {})  # type: ignore[assignment]
    return found


def _stored(request: Request) -> Reminders:
    found: Reminders = request.state.get("reminders", {})  # type: ignore[assignment]
    return found


def reminders_of(request: Request) -> Reminders:
    """Give all reminders of the thread, those included that are on their way."""
    return merge_reminders(_stored(request), _new(request))


class ReminderMiddleware(Layer):
    """Writes the reminders into the request and the new ones into the state."""

    before = ("LLMErrorHandlingMiddleware",)

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Put each reminder where it belongs, then call the model."""
        new = _new(request)
        everything = reminders_of(request)
        if not everything:
            return await handler(request)
        response = await handler(request.override(messages=with_reminders(request.messages, everything)))
        if not new:
            return response
        return ExtendedModelResponse(
            model_response=response,
            command=Command(update={"reminders": {k: list(v) for k, v in new.items()}}),
        )


def with_reminders(messages: Sequence[AnyMessage], reminders: Reminders) -> list[AnyMessage]:
    """Put reminders into a history: inside their message, or behind it and the results around it. Pure."""
    result: list[AnyMessage] = []
    waiting: list[str] = []
    for index, message in enumerate(messages):
        own = reminders.get(message.id or "", ())
        inside = [reminder["text"] for reminder in own if reminder["place"] == "inside"]
        result.append(_with_head(message, inside) if inside else message)
        waiting += [reminder["text"] for reminder in own if reminder["place"] == "after"]
        following = messages[index + 1] if index + 1 < len(messages) else None
        # Between the results of one turn nothing may stand.
        if waiting and not isinstance(following, ToolMessage):
            result += [HumanMessage(tagged(REMINDER, text)) for text in waiting]
            waiting = []
    return result


def _with_head(message: AnyMessage, texts: Sequence[str]) -> AnyMessage:
    head = "\n\n".join(tagged(REMINDER, text) for text in texts)
    content = message.content
    if isinstance(content, str):
        return message.model_copy(update={"content": f"{head}\n\n{content}"})
    return message.model_copy(update={"content": [{"type": "text", "text": head}, *content]})
