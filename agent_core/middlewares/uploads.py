"""Tells the model which files came with a message, and what else is known about it."""

from langchain_core.messages import AnyMessage, HumanMessage

from agent_core.human_message import facts_of
from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request
from agent_core.tags import CONTEXT, tagged, untagged


class UploadsMiddleware(Layer):
    """Writes the facts about each message behind its text."""

    after = ("ThreadDataMiddleware",)
    before = ("ReminderMiddleware", "LLMErrorHandlingMiddleware")

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Write the facts into the request, then call the model."""
        messages = [_with_facts(message) for message in request.messages]
        return await handler(request.override(messages=messages))


def _with_facts(message: AnyMessage) -> AnyMessage:
    if not isinstance(message, HumanMessage):
        return message
    facts = facts_of(message)
    if not facts:
        return message
    # Names of files are the sender's choice.
    block = tagged(CONTEXT, untagged("\n".join(facts)))
    text = message.text
    return message.model_copy(update={"content": f"{text}\n\n{block}" if text else block})
