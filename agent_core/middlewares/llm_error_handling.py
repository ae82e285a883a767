"""Tries a model call again when that can help, then other models; says in plain words why all failed."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from langchain_core.language_models import BaseChatModel

from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request, Response
from agent_core.middlewares.responses import priced, spoken
from agent_core.models.errors import ModelFailedError, ModelFault
from agent_core.models.faults import CutStreamError, classify, words
from agent_core.models.spec import ModelSpec
from agent_core.text import one_line

_log = logging.getLogger(__name__)

_DETAIL_LENGTH = 300

# What another model would say no less: for these the request is to blame.
_SAME_ELSEWHERE = frozenset({ModelFault.TOO_LONG, ModelFault.REFUSED})
# What says nothing about how the model will take the next request.
_NO_FAILING = _SAME_ELSEWHERE | {ModelFault.INVALID}


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How model calls are tried again.

    Args:
        retries: How often, after the first try.
        first_seconds: Pause before the first retry; doubles each time.
        max_seconds: Longest pause of our own.
        max_asked_seconds: Longest pause a provider may ask for; asked for more, we give up.
        call_seconds: How long one try may take.
    """

    retries: int = 3
    first_seconds: float = 1.0
    max_seconds: float = 30.0
    max_asked_seconds: float = 90.0
    call_seconds: float = 600.0

    def pause(self, tried: int, asked: float | None, chance: float) -> float | None:
        """Give the seconds to wait after ``tried`` failed tries; None means give up. Pure.

        Args:
            tried: Tries so far, at least 1.
            asked: What the provider asked for (Retry-After), if it did.
            chance: Between 0 and 1; spreads the retries of many runs.
        """
        if tried > self.retries:
            return None
        own = min(self.first_seconds * 2.0 ** (tried - 1), self.max_seconds) * (0.5 + chance / 2)
        if asked is None:
            return own
        # Never sooner than asked; the own part spreads those who were all told the same.
        return None if asked > self.max_asked_seconds else asked + own * 0.1


class ModelHealth:
    """Remembers which models have just failed for good, so that a fallback is asked first for a while.

    Args:
        now: The clock.
        rest: How long a model that failed is left alone.
    """

    def __init__(self, now: Callable[[], datetime], rest: timedelta = timedelta(seconds=60)) -> None:
        self._now = now
        self._rest = rest
        self._until: dict[str, datetime] = {}

    def failed(self, model: str) -> None:
        """A model failed for good."""
        self._until[model] = self._now() + self._rest

    def answered(self, model: str) -> None:
        """A model answered."""
        self._until.pop(model, None)

    def rests(self, model: str) -> bool:
        """Whether it failed a short while ago."""
        until = self._until.get(model)
        return until is not None and self._now() < until


@dataclass(frozen=True, slots=True)
class Fallbacks:
    """The models asked when the chosen one fails for good.

    Args:
        specs: In order.
        get: Gives one of them by name; may take seconds the first time.
        health: Shared by all agents of the process.
    """

    specs: Sequence[ModelSpec]
    get: Callable[[str], Awaitable[BaseChatModel]]
    health: ModelHealth


class LLMErrorHandlingMiddleware(Layer):
    """Stands around the calls to one model and its fallbacks.

    LangChain's ``ModelRetryMiddleware`` knows neither Retry-After nor streams that were cut, and its
    ``ModelFallbackMiddleware`` falls back on every error, refusals included.

    Args:
        spec: The model; takes its secrets out of what is logged.
        policy: How to try again.
        fallbacks: Further models, or None.
        sleep: Waits some seconds; replaced where time is moved by hand.
        chance: Gives a number between 0 and 1.
    """

    def __init__(
        self,
        spec: ModelSpec,
        policy: RetryPolicy,
        fallbacks: Fallbacks | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        super().__init__()
        self._spec = spec
        self._policy = policy
        self._fallbacks = fallbacks
        self._sleep = sleep
        self._chance = chance

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Call the model, and its fallbacks if need be, until one answers.

        Raises:
            ModelFailedError: None did; it says why the first did not.
        """
        fallbacks = self._fallbacks
        if fallbacks is None:
            return await self._tried(self._spec, request, handler)
        health = fallbacks.health
        # Stable: those that have just failed are asked last.
        specs = sorted((self._spec, *fallbacks.specs), key=lambda spec: health.rests(spec.name))
        first: ModelFailedError | None = None
        for spec in specs:
            asked = request
            if spec is not self._spec:
                asked = request.override(model=await fallbacks.get(spec.name))
            try:
                response = await self._tried(spec, asked, handler)
            except ModelFailedError as error:
                if spec is self._spec and first is None and error.fault in _SAME_ELSEWHERE:
                    raise
                first = first or error
                if error.fault not in _NO_FAILING:
                    health.failed(spec.name)
                _log.warning("model %s failed for good: %s", spec.name, error.detail)
                continue
            health.answered(spec.name)
            return response
        assert first is not None
        raise first

    async def _tried(self, spec: ModelSpec, request: Request, handler: ModelHandler) -> Response:
        """Call one model until it answers or there is no point in going on."""
        tried = 0
        while True:
            tried += 1
            try:
                async with asyncio.timeout(self._policy.call_seconds):
                    response = await handler(request)
                _refuse_cut(response)
                return priced(response, spec.prices)
            except Exception as error:
                verdict = classify(error)
                if verdict is None:
                    raise
                detail = _detail(spec, error)
                pause = None
                if verdict.retryable:
                    pause = self._policy.pause(tried, verdict.retry_after, self._chance())
                if pause is None:
                    raise ModelFailedError(verdict.fault, words(verdict.fault, spec.name), detail) from None
                _log.info("model %s: %s; next try in %.1f s", spec.name, detail, pause)
            await self._sleep(pause)


def _detail(spec: ModelSpec, error: Exception) -> str:
    return one_line(spec.redact(f"{type(error).__name__}: {error}"), _DETAIL_LENGTH)


def _refuse_cut(response: Response) -> None:
    """Refuse an answer whose stream ended before the model did.

    OpenAI-compatible servers end each choice with a ``finish_reason``; the SDK takes a stream that
    breaks off cleanly (a proxy that closes it) for a whole answer.
    """
    metadata = spoken(response).response_metadata
    if metadata.get("model_provider") != "openai" or metadata.get("status"):
        return
    if not metadata.get("finish_reason"):
        raise CutStreamError("the stream ended without finish_reason")
