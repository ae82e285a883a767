"""One system message, at the beginning."""

from langchain_core.messages import AnyMessage, SystemMessage

from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request


class SystemMessageCoalescingMiddleware(Layer):
    """Joins system messages in the history into the leading one.

    vLLM, SGLang, Qwen and Anthropic refuse them anywhere else. Our own layers write none.
    """

    after = ("LLMErrorHandlingMiddleware", "ReminderMiddleware")

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Join them if there are any, then call the model."""
        found = [message.text for message in request.messages if isinstance(message, SystemMessage)]
        if not found:
            return await handler(request)
        texts = [text for text in (request.system_prompt, *found) if text]
        rest: list[AnyMessage] = [
            message for message in request.messages if not isinstance(message, SystemMessage)
        ]
        joined = SystemMessage("\n\n".join(texts))
        return await handler(request.override(system_message=joined, messages=rest))
