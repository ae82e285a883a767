"""What happens when a model reaches the limit of what it can write in one answer."""

from langchain_core.messages import ToolMessage

from agent_core.middlewares.dangling_tool_calls import open_calls
from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request, Response
from agent_core.middlewares.responses import calls_tools, changed, spoken
from agent_core.middlewares.safety_finish_reason import finish_reason

_REASONS = frozenset({"length", "max_tokens", "model_length"})

_NOT_MADE = (
    "Not called: your message was cut at the limit of one answer, so the arguments may be incomplete. "
    "Make the call again with less in it, for example a long file in several parts."
)
_CUT = "(The answer was cut at the model's limit for one message. Ask me to go on.)"


class LengthFinishReasonMiddleware(Layer):
    """Makes no call whose arguments were cut, and tells people of a cut answer.

    The arguments of a cut call can look whole: half a file would be written.
    """

    before = ("LLMErrorHandlingMiddleware",)

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Call the model and look at how it ended."""
        response = await handler(request)
        message = spoken(response)
        if finish_reason(message) not in _REASONS:
            return response
        if not calls_tools(message):
            text = message.text.rstrip()
            return changed(response, content=f"{text}\n\n{_CUT}") if text else response
        answers = [
            ToolMessage(_NOT_MADE, tool_call_id=call_id, name=name, status="error")
            for call_id, name in open_calls(message)
        ]
        return Response(result=[message, *answers])
