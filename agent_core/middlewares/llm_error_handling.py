"""Tries a model call again when that can help, and says in plain words why it failed when not."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request, Response
from agent_core.middlewares.responses import spoken
from agent_core.models.errors import ModelFailedError
from agent_core.models.faults import CutStreamError, classify, words
from agent_core.models.spec import ModelSpec
from agent_core.text import one_line

_log = logging.getLogger(__name__)

_DETAIL_LENGTH = 300


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


class LLMErrorHandlingMiddleware(Layer):
    """Stands around the calls to one model.

    LangChain's ``ModelRetryMiddleware`` knows neither Retry-After nor streams that were cut.

    Args:
        spec: The model; takes its secrets out of what is logged.
        policy: How to try again.
        sleep: Waits some seconds; replaced where time is moved by hand.
        chance: Gives a number between 0 and 1.
    """

    def __init__(
        self,
        spec: ModelSpec,
        policy: RetryPolicy,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        super().__init__()
        self._spec = spec
        self._policy = policy
        self._sleep = sleep
        self._chance = chance

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Call the model until it answers or there is no point in going on.

        Raises:
            ModelFailedError: There is none.
        """
        tried = 0
        while True:
            tried += 1
            try:
                async with asyncio.timeout(self._policy.call_seconds):
                    response = await handler(request)
                _refuse_cut(response)
                return response
            except Exception as error:
                verdict = classify(error)
                if verdict is None:
                    raise
                detail = self._detail(error)
                pause = None
                if verdict.retryable:
                    pause = self._policy.pause(tried, verdict.retry_after, self._chance())
                if pause is None:
                    raise ModelFailedError(
                        verdict.fault, words(verdict.fault, self._spec.name), detail
                    ) from None
                _log.info("model %s: %s; next try in %.1f s", self._spec.name, detail, pause)
            await self._sleep(pause)

    def _detail(self, error: Exception) -> str:
        text = f"{type(error).__name__}: {error}"
        return one_line(self._spec.redact(text), _DETAIL_LENGTH)


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
