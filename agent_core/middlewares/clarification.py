"""Lets the model ask the person a question, which ends the run; the next message answers it."""

from typing import Annotated, Any

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.messages.tool import ToolCall
from langchain_core.tools import BaseTool, tool
from pydantic import Field

from agent_core.middlewares.dangling_tool_calls import open_calls
from agent_core.middlewares.layer import ALL, Answer, Layer, ModelHandler, Request, Response, context_of
from agent_core.middlewares.responses import spoken
from agent_core.text import one_line

_MAX_OPTIONS = 10
_OPTION_LENGTH = 200

_ASKED = "The question was put to the person. Their next message is the answer."
_NOT_NOW = (
    "Not called, because a question was asked in the same turn. Call it again once that is answered, if "
    "it is still needed."
)
_NOBODY = (
    "Nobody is there to answer: this run goes by itself. Take the likeliest reading, go on, and say in "
    "the answer which one you took."
)


@tool
async def ask_clarification(
    question: Annotated[str, Field(description="One question, in the language of the conversation")],
    options: Annotated[
        list[str],
        Field(description="Likely answers to choose from, if there are some", max_length=_MAX_OPTIONS),
    ] = [],  # noqa: B006 - read for the schema alone
) -> str:
    """Ask the person a question and wait for the answer. Ends the turn: call it alone.

    For when something needed is missing, when a request can be read in ways that lead to different
    results, or before something that cannot be undone. Never for what you can find out yourself.
    """
    return _NOBODY


class ClarificationMiddleware(Layer):
    """Turns a call of ``ask_clarification`` into the answer of the run.

    It is done where the model answers and not where the tool is called, because a tool cannot end a
    run whose model has called others in the same turn. Where nobody can answer the tool says so.
    """

    after = (ALL,)

    def __init__(self) -> None:
        super().__init__()
        self.tools: list[BaseTool] = [ask_clarification]

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Call the model, and end the run if it asks."""
        response = await handler(request)
        message = spoken(response)
        question = next((text for call in message.tool_calls if (text := question_in(call))), None)
        context = context_of(request)
        if question is None or not context.interactive:
            return response
        answers = [
            ToolMessage(
                _ASKED if name == ask_clarification.name else _NOT_NOW,
                tool_call_id=call_id,
                name=name,
                status="success" if name == ask_clarification.name else "error",
            )
            for call_id, name in open_calls(message)
        ]
        before = message.text.strip()
        text = f"{before}\n\n{question}" if before else question
        return Response(result=[message, *answers, AIMessage(text)])


def question_in(call: ToolCall) -> str | None:
    """Give a question as people read it; None when the call asks nothing. Pure."""
    if call["name"] != ask_clarification.name:
        return None
    question, options = call["args"].get("question"), call["args"].get("options")
    if not isinstance(question, str) or not question.strip():
        return None
    lines = [question.strip(), *_numbered(options if isinstance(options, list) else [])]
    return "\n".join(lines)


def _numbered(options: list[Any]) -> list[str]:
    shown = [one_line(str(option), _OPTION_LENGTH) for option in options[:_MAX_OPTIONS]]
    return [f"{number}. {option}" for number, option in enumerate([o for o in shown if o], 1)]
