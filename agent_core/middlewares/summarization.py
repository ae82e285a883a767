"""Sums up the older part of a conversation that has become long, so that a turn costs no more than before."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from langchain.agents.middleware.types import ExtendedModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.constants import TAG_NOSTREAM
from langgraph.types import Command

from agent_core import fence
from agent_core.context import RunContext
from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request, Response, context_of
from agent_core.middlewares.responses import charged, priced, spoken
from agent_core.models.prices import Prices
from agent_core.models.tokens import estimate_tokens
from agent_core.state import Summary, TokenCount
from agent_core.summary import (
    SUMMARY_PROMPT,
    SummaryLimits,
    summary_message,
    summed_up,
    to_sum_up,
    transcript,
    visible,
)

_log = logging.getLogger(__name__)

BeforeSummary = Callable[[Sequence[AnyMessage], RunContext], Awaitable[None]]
"""Is given the messages that the model will not see any more, before they are summed up. What it raises
is logged and changes nothing."""

_SECONDS = 180.0
_LOST = "(The older part of this conversation could not be summed up and was taken out.)"


class SummarizationMiddleware(Layer):
    """Sends a summary in place of the older messages, and keeps it in the state.

    LangChain's class of this name is a graph node, which costs a checkpoint per model call; it rewrites
    the stored messages within a run, which then can no longer be counted; and it counts Chinese at a
    half of its tokens.

    Args:
        limits: When, and how much is left.
        model: Gives the model that sums up; None for the one that answers.
        before_summary: Called in order before each summary.
        prices: Gives what a model costs, if known.
    """

    # What is told at the beginning of a thread must be told again when its beginning is gone.
    before = (
        "DynamicContextMiddleware",
        "TodoMiddleware",
        "TokenUsageMiddleware",
        "ContextOverflowMiddleware",
        "ReminderMiddleware",
        "LLMErrorHandlingMiddleware",
    )
    after = ("InputSanitizationMiddleware", "UploadsMiddleware", "DanglingToolCallMiddleware")

    def __init__(
        self,
        limits: SummaryLimits,
        model: Callable[[], Awaitable[BaseChatModel]] | None = None,
        before_summary: Sequence[BeforeSummary] = (),
        prices: Callable[[BaseChatModel], Prices | None] = lambda _: None,
    ) -> None:
        super().__init__()
        self._limits = limits
        self._model = model
        self._before_summary = tuple(before_summary)
        self._prices = prices
        self._tool_tokens: int | None = None

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Call the model with what it shall still see."""
        summary = cast("Summary | None", request.state.get("summary"))
        shown = visible(request.messages, summary)
        further = self._further_tokens(request, summary)
        count = to_sum_up(shown, self._limits, further)
        if not count:
            return await handler(_with(request, shown, summary))
        answer = await self._sum_up(request, shown[:count], summary)
        if answer is None and not to_sum_up(shown, _lenient(self._limits), further):
            # It may work the next time; until then all still fits.
            return await handler(_with(request, shown, summary))
        text = answer.text if answer is not None else _without_a_summary(summary)
        new = summed_up(shown, count, text)
        _log.info("thread %s: %d messages summed up", context_of(request).thread_id, count)
        response = await handler(_with(request, visible(shown, new), new))
        update: dict[str, Any] = {"summary": new}
        if answer is not None and answer.usage_metadata is not None:
            response = charged(response, Response(result=[answer]))
            update["token_usage"] = _count(answer)
        return ExtendedModelResponse(model_response=response, command=Command(update=update))

    async def _sum_up(
        self, request: Request, messages: Sequence[AnyMessage], summary: Summary | None
    ) -> AIMessage | None:
        context = context_of(request)
        for tell in self._before_summary:
            try:
                await tell(messages, context)
            except Exception:  # noqa: BLE001 - of whatever origin; the conversation must go on
                _log.exception("run %s: what is to happen before a summary failed", context.run_id)
        text = transcript(messages, self._limits.tokens)
        if summary is not None:
            text = f"Summary of what came before:\n{summary['text']}\n\n{text}"
        fence.check()
        try:
            model = request.model if self._model is None else await self._model()
            async with asyncio.timeout(_SECONDS):
                # Not streamed: its words are no part of the answer.
                answer = await model.ainvoke(
                    [SystemMessage(SUMMARY_PROMPT), HumanMessage(text)], config={"tags": [TAG_NOSTREAM]}
                )
        except Exception as error:  # noqa: BLE001 - a model of any vendor; the answer itself matters more
            _log.warning("run %s: no summary: %s", context.run_id, type(error).__name__)
            return None
        if not answer.text.strip():
            return None
        return spoken(priced(Response(result=[answer]), self._prices(model)))

    def _further_tokens(self, request: Request, summary: Summary | None) -> int:
        if self._tool_tokens is None:
            # The tools of an agent stay the same.
            schemas = [
                tool if isinstance(tool, dict) else convert_to_openai_tool(tool) for tool in request.tools
            ]
            self._tool_tokens = estimate_tokens(json.dumps(schemas, ensure_ascii=False, default=str))
        words = estimate_tokens(request.system_prompt or "")
        return self._tool_tokens + words + (estimate_tokens(summary["text"]) if summary else 0)


def _with(request: Request, shown: Sequence[AnyMessage], summary: Summary | None) -> Request:
    if summary is None:
        return request
    # Also in the state, for the layers inside that ask what the model sees.
    state: Any = {**request.state, "summary": summary}
    return request.override(messages=[summary_message(summary), *shown], state=state)


def _lenient(limits: SummaryLimits) -> SummaryLimits:
    return SummaryLimits(
        limits.messages * 4 // 3, limits.tokens * 4 // 3, limits.keep_messages, limits.keep_tokens
    )


def _without_a_summary(summary: Summary | None) -> str:
    return _LOST if summary is None else f"{summary['text']}\n\n{_LOST}"


def _count(answer: AIMessage) -> TokenCount:
    used = answer.usage_metadata
    assert used is not None
    cached = used.get("input_token_details", {}).get("cache_read") or 0
    return TokenCount(input=used["input_tokens"], output=used["output_tokens"], cached=cached, calls=1)
