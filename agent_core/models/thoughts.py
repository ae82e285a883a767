"""What a model thought before it spoke, kept with its message. Pure, and with no vendor's library."""

from langchain_core.messages import BaseMessage

REASONING = "reasoning_content"
"""In a message's ``additional_kwargs``: stored, and sent to a provider only by a class that knows it."""


def reasoning_of(message: BaseMessage) -> str:
    """Give the thoughts, or of a streamed piece those in it; empty for none."""
    thoughts = message.additional_kwargs.get(REASONING)
    return thoughts if isinstance(thoughts, str) else ""
