"""Counts what a thread costs, also where the provider does not say."""

import json

from langchain.agents.middleware.types import ExtendedModelResponse
from langchain_core.messages import AIMessage, UsageMetadata
from langgraph.types import Command

from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request
from agent_core.middlewares.responses import changed, spoken
from agent_core.models.tokens import estimate_tokens
from agent_core.state import TokenCount


class TokenUsageMiddleware(Layer):
    """Adds the tokens of each model call to the thread's count.

    A provider that reports none is estimated, so that a budget holds for it too.
    """

    # Outside of all that throw an answer away and charge it to the next.
    before = (
        "CallLimitMiddleware",
        "LoopDetectionMiddleware",
        "TodoMiddleware",
        "TerminalResponseMiddleware",
    )

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Call the model and count."""
        response = await handler(request)
        message = spoken(response)
        used = message.usage_metadata
        if used is None:
            used = estimated(request, message)
            response = changed(response, usage_metadata=used)
        count = TokenCount(
            input=used["input_tokens"],
            output=used["output_tokens"],
            cached=used.get("input_token_details", {}).get("cache_read") or 0,
            calls=1,
        )
        return ExtendedModelResponse(model_response=response, command=Command(update={"token_usage": count}))


def estimated(request: Request, answer: AIMessage) -> UsageMetadata:
    """Guess what a call cost from its texts. Pure."""
    prompt = estimate_tokens(request.system_prompt or "")
    prompt += sum(estimate_tokens(message.text) for message in request.messages)
    calls = json.dumps([call["args"] for call in answer.tool_calls], ensure_ascii=False, default=str)
    output = estimate_tokens(answer.text) + (estimate_tokens(calls) if answer.tool_calls else 0)
    return UsageMetadata(input_tokens=prompt, output_tokens=output, total_tokens=prompt + output)
