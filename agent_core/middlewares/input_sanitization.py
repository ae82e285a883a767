"""Takes from what others wrote the power to look like words of the system."""

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage

from agent_core.middlewares.layer import ALL, Answer, Layer, ModelHandler, Request
from agent_core.tags import untagged, untagged_result


class InputSanitizationMiddleware(Layer):
    """Cleans the messages of people and the results of tools before any other layer sees them.

    What the system itself writes between its tags is added further inside, so it is not touched. The
    stored history keeps the words as they came.
    """

    before = (ALL,)

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Clean the messages, then call the model."""
        messages = [_cleaned(message) for message in request.messages]
        return await handler(request.override(messages=messages))


def _cleaned(message: AnyMessage) -> AnyMessage:
    match message:
        case HumanMessage():
            content = _each_text(message.content, untagged)
        case ToolMessage():
            content = _each_text(message.content, untagged_result)
        case _:
            return message
    return message if content is message.content else message.model_copy(update={"content": content})


def _each_text(content: Any, clean: Callable[[str], str]) -> Any:
    """Give the content with each text in it cleaned; the same object if there was nothing to clean."""
    if isinstance(content, str):
        text = clean(content)
        return content if text == content else text
    blocks = [
        {**block, "text": clean(block["text"])} if _is_text(block) else _each_string(block, clean)
        for block in content
    ]
    return content if blocks == content else blocks


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and isinstance(block.get("text"), str)


def _each_string(block: Any, clean: Callable[[str], str]) -> Any:
    return clean(block) if isinstance(block, str) else block
