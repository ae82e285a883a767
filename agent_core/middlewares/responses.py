"""Reading and changing what a model answered. Pure.

A response is one message of the model, and what layers put behind it: results they gave in place of a
tool, and closing words.
"""

from typing import Any

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.messages.ai import add_usage

from agent_core.middlewares.layer import Response
from agent_core.models.prices import Prices, cost_of, total, with_cost


def spoken(response: Response) -> AIMessage:
    """Give what the model itself said."""
    message = response.result[0]
    assert isinstance(message, AIMessage), "a response begins with the model's message"
    return message


def calls_tools(message: AnyMessage) -> bool:
    """Tell whether a message calls tools; broken calls count."""
    return isinstance(message, AIMessage) and bool(message.tool_calls or message.invalid_tool_calls)


def is_final(response: Response) -> bool:
    """Tell whether the run ends with this response."""
    last = response.result[-1]
    return isinstance(last, AIMessage) and not calls_tools(last)


def changed(response: Response, **update: Any) -> Response:
    """Give the response with fields of the model's message replaced; what stood behind it stays."""
    message = spoken(response).model_copy(update=update)
    return Response(result=[message, *response.result[1:]])


def said(response: Response, text: str) -> Response:
    """Give a final response: the model's message with ``text`` and without any call."""
    # Vendors keep calls and refusals there too, and would be sent them again.
    message = spoken(response)
    closed = message.model_copy(
        update={"content": text, "tool_calls": [], "invalid_tool_calls": [], "additional_kwargs": {}}
    )
    return Response(result=[closed])


def charged(response: Response, thrown_away: Response) -> Response:
    """Give the response with the tokens and the cost of one that was thrown away counted in."""
    before, now = spoken(thrown_away), spoken(response)
    if before.usage_metadata is None:
        return response
    cost = total(cost_of(before), cost_of(now))
    return changed(
        response,
        usage_metadata=add_usage(before.usage_metadata, now.usage_metadata),
        response_metadata=with_cost(now.response_metadata, cost),
    )


def priced(response: Response, prices: Prices | None) -> Response:
    """Give the response with a note of what it cost, if that is known."""
    message = spoken(response)
    if prices is None or message.usage_metadata is None:
        return response
    cost = prices.cost(message.usage_metadata)
    return changed(response, response_metadata=with_cost(message.response_metadata, cost))
