"""Reading the turn that is going on off the stored messages. Pure."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage


def current_turn(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    """Give what followed the last message of a person."""
    for index in range(len(messages) - 1, -1, -1):
        if isinstance(messages[index], HumanMessage):
            return messages[index + 1 :]
    return messages


def calls_in_turn(messages: Sequence[AnyMessage]) -> int:
    """Count the model's messages since the last one of a person."""
    return sum(isinstance(message, AIMessage) for message in current_turn(messages))


def begins_turn(messages: Sequence[AnyMessage]) -> bool:
    """Tell whether the last message is a person's, so that the model is asked the first time."""
    return bool(messages) and isinstance(messages[-1], HumanMessage)
