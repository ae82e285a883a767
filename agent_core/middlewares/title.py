"""Gives a thread a title after its first answer."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from langchain.agents.middleware.types import ExtendedModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.constants import TAG_NOSTREAM
from langgraph.types import Command

from agent_core.human_message import said_in
from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request, Response
from agent_core.middlewares.responses import is_final
from agent_core.tags import untagged
from agent_core.text import one_line

_log = logging.getLogger(__name__)

_LENGTH = 60
_SHOWN = 1_000
_SECONDS = 15.0
_ASK = (
    "Give a title of at most six words for a conversation that begins as follows, in its language. Answer "
    "with the title alone."
)
_UNTITLED = "Untitled"


class TitleMiddleware(Layer):
    """Names the thread by its first message, or has a model name it.

    Args:
        model: Gives the model that is asked; None to take the first words, which costs nothing.
    """

    def __init__(self, model: Callable[[], Awaitable[BaseChatModel]] | None = None) -> None:
        super().__init__()
        self._model = model

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Call the model; if that was the first answer, write down a title."""
        response = await handler(request)
        if not is_final(response) or request.state.get("title"):
            return response
        first = next((said_in(m) for m in request.state["messages"] if isinstance(m, HumanMessage)), "")
        title = await self._asked(first, response) or first_words(first)
        return ExtendedModelResponse(model_response=response, command=Command(update={"title": title}))

    async def _asked(self, first: str, response: Response) -> str:
        if self._model is None:
            return ""
        text = f"Person: {untagged(first[:_SHOWN])}\n\nAnswer: {response.result[-1].text[:_SHOWN]}"
        try:
            model = await self._model()
            async with asyncio.timeout(_SECONDS):
                # Not streamed: its words are no part of the answer.
                answer = await model.ainvoke(
                    [SystemMessage(_ASK), HumanMessage(text)], config={"tags": [TAG_NOSTREAM]}
                )
        except Exception as error:  # noqa: BLE001 - of whatever kind, an answer must not be lost for a title
            _log.info("no title was given: %s", type(error).__name__)
            return ""
        return first_words(answer.text.strip().strip("\"'“”«».")) if answer.text.strip() else ""


def first_words(text: str) -> str:
    """Give a title made of the beginning of a text, cut between words. Pure."""
    lines = text.strip().splitlines()
    line = one_line(lines[0], 400) if lines else ""
    if len(line) <= _LENGTH:
        return line or _UNTITLED
    cut = line[: _LENGTH - 1]
    whole, space, _ = cut.rpartition(" ")
    # Some languages have no blanks between words.
    return f"{whole if space and len(whole) > _LENGTH // 2 else cut}…"
