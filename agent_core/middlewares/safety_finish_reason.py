"""What happens when a provider's content rules stop an answer."""

from langchain_core.messages import AIMessage

from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request
from agent_core.middlewares.responses import said, spoken

# OpenAI and Azure, Gemini and Vertex AI, Anthropic, Zhipu, Bedrock, Mistral.
SAFETY_REASONS = frozenset(
    {
        "content_filter",
        "content_filtered",
        "safety",
        "image_safety",
        "recitation",
        "blocklist",
        "prohibited_content",
        "spii",
        "refusal",
        "sensitive",
        "guardrail_intervened",
    }
)

_STOPPED = "The model's provider stopped this answer because of its content rules. Please ask in other words."
_PARTIAL = "(The model's provider stopped the answer here because of its content rules.)"


class SafetyFinishReasonMiddleware(Layer):
    """Takes the calls out of an answer that was stopped, so that nothing half thought is done.

    Stands inside of what counts calls: these are none.
    """

    before = ("LLMErrorHandlingMiddleware",)

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Call the model and look at how it ended."""
        response = await handler(request)
        message = spoken(response)
        refusal = message.additional_kwargs.get("refusal")
        if finish_reason(message) in SAFETY_REASONS:
            text = message.text.strip()
            return said(response, f"{text}\n\n{_PARTIAL}" if text else _STOPPED)
        if isinstance(refusal, str) and refusal.strip() and not message.text.strip():
            return said(response, refusal.strip())
        return response


def finish_reason(message: AIMessage) -> str:
    """Give why the model ended, in small letters; empty when it is not said. Pure."""
    metadata = message.response_metadata
    reason = metadata.get("finish_reason") or metadata.get("stop_reason")
    return reason.lower() if isinstance(reason, str) else ""
