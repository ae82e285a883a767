"""Makes sure that a run ends with words."""

from langchain_core.messages import AIMessage

from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request, Response
from agent_core.middlewares.reminders import remind
from agent_core.middlewares.responses import calls_tools, charged, said, spoken

NOTHING_TO_SAY = "I have no answer to give; the model returned nothing. Please ask again in other words."

_NUDGE = "The last answer was empty. Answer the message above in words."


class TerminalResponseMiddleware(Layer):
    """Asks once more when a final answer is empty, then puts a sentence in its place."""

    before = ("ReminderMiddleware", "SafetyFinishReasonMiddleware")

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Call the model, twice if need be."""
        response = await handler(request)
        if not _is_empty(response):
            return response
        second = charged(await handler(remind(request, _NUDGE)), response)
        return said(second, NOTHING_TO_SAY) if _is_empty(second) else second


def _is_empty(response: Response) -> bool:
    """Tell whether a response neither says nor calls anything."""
    last = response.result[-1]
    return (
        isinstance(last, AIMessage)
        and not calls_tools(last)
        and not spoken(response).text.strip()
        and not (last.text.strip())
    )
