"""Bounds the tokens of a run, of a thread, and of a person's day."""

from dataclasses import dataclass
from typing import Protocol

from langchain_core.messages import AIMessage

from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request, Response, context_of
from agent_core.middlewares.turn import begins_turn, current_turn
from agent_core.middlewares.wrap_up import wrap_up
from agent_core.state import TokenCount
from agent_core.turns import usage


@dataclass(frozen=True, slots=True)
class TokenLimits:
    """Tokens, of prompts and answers together; None for no limit.

    Args:
        run: In one run.
        thread: In one thread, over all its runs.
        user_day: In all runs of one person on one day.
    """

    run: int | None = None
    thread: int | None = None
    user_day: int | None = None


class Spending(Protocol):
    """Knows what people have used."""

    async def today(self, user_id: str) -> int:
        """Tokens of the runs of this person that have ended today."""


@dataclass(frozen=True, slots=True)
class _Spent:
    limit: int
    of: str
    advice: str


_RUN = "one request"
_THREAD = "this conversation"
_DAY = "your requests of one day"


class TokenBudgetMiddleware(Layer):
    """Lets a run that has used its budget up end with an answer, and begins none that has none left.

    Args:
        limits: The budgets.
        spending: Asked before each call when there is a limit per day.
    """

    before = ("TokenUsageMiddleware", "ReminderMiddleware")

    def __init__(self, limits: TokenLimits, spending: Spending | None = None) -> None:
        super().__init__()
        self._limits = limits
        self._spending = spending

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Call the model while there is budget."""
        spent = await self._spent(request)
        if spent is None:
            return await handler(request)
        message = f"I have used up the budget of {spent.limit:,} tokens for {spent.of}. {spent.advice}"
        if begins_turn(request.state["messages"]):
            return Response(result=[AIMessage(message)])
        why = f"The budget of {spent.limit:,} tokens for {spent.of} is used up."
        return await wrap_up(request, handler, why, message)

    async def _spent(self, request: Request) -> _Spent | None:
        limits, context = self._limits, context_of(request)
        if limits == TokenLimits() and context.token_budget is None:
            return None
        used = usage(current_turn(request.state["messages"]))
        run = used.input_tokens + used.output_tokens
        for_run = limits.run if context.token_budget is None else context.token_budget
        if for_run is not None and run >= for_run:
            return _Spent(for_run, _RUN, "Ask me to go on, or split the request into smaller ones.")
        if limits.thread is not None and _total(request) >= limits.thread:
            return _Spent(limits.thread, _THREAD, "Start a new one with /new.")
        if limits.user_day is not None and self._spending is not None and context.user_id is not None:
            today = await self._spending.today(context.user_id)
            if today + run >= limits.user_day:
                return _Spent(
                    limits.user_day, _DAY, "Ask me again tomorrow, or ask whoever runs me for more."
                )
        return None


def _total(request: Request) -> int:
    count: TokenCount = request.state.get("token_usage", {})  # type: ignore[assignment]
    return count.get("input", 0) + count.get("output", 0)
