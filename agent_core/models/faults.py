"""Which failures of a model call there are, which can pass, and what to tell people. Pure."""

import email.utils
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx
from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelError,
    ModelInvalidRequestError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
    ModelRefusalError,
    ModelTimeoutError,
)

from agent_core.models.errors import ModelFault

# langchain-openai knows only OpenAI's own phrases. These are said by, in this order: OpenAI, DeepSeek,
# vLLM and Mistral; Groq; Anthropic and Bedrock; Gemini; xAI; Cohere; Together; llama.cpp and Ollama;
# Qwen (DashScope); Kimi (Moonshot); MiniMax; Doubao (Volcengine); StepFun and others in English; and
# those that answer in Chinese: Zhipu ("Prompt 超长"), Baidu, Hunyuan, Spark.
_TOO_LONG = re.compile(
    r"maximum context length|context[ _]?length|context[ _]?window|too large for model"
    r"|reduce the length of the (?:messages|input|prompt)"
    r"|(?:prompt|input|message|request|conversation) is too (?:long|large)"
    r"|exceeds the maximum number of tokens|input token count"
    r"|maximum prompt length"
    r"|too many (?:input |total )?tokens"
    r"|max_new_tokens.{0,20}must be"
    r"|available context size|exceed_context_size"
    r"|range of input length|input length should be"
    r"|exceeded model token limit|token limit exceeded"
    r"|tokens? of image and text exceed|max message tokens"
    r"|exceeds? the (?:model'?s )?max(?:imum)?"
    r"|input_?tokens?_?exceed|prompt tokens? too long|max input (?:token|char)"
    r"|(?:超出|超过|超)[^。,,]{0,12}(?:长度|上下文|上限|限制|最大|token)"
    r"|(?:输入|内容|文本|上下文|消息|对话|prompt)[^。]{0,8}(?:过长|超长|太长)"
    r"|(?:token|长度)[^。]{0,6}(?:超出|超过|超限)",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient[_ ](?:quota|balance)|billing|exceeded your current quota|arrearage|余额不足|欠费",
    re.IGNORECASE,
)


class CutStreamError(Exception):
    """A streamed answer broke off before its end."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a failure means.

    Args:
        fault: Its kind.
        retryable: The same request may succeed later.
        retry_after: Seconds the provider asked to wait, if it did.
    """

    fault: ModelFault
    retryable: bool
    retry_after: float | None = None


def classify(error: Exception) -> Verdict | None:
    """Tell what a failed call means; None when the failure is not the model's (a bug of ours)."""
    match error:
        case CutStreamError():
            return Verdict(ModelFault.CUT, retryable=True)
        # Before its parents: some classes are both an invalid request and an overflow.
        case ContextOverflowError():
            return Verdict(ModelFault.TOO_LONG, retryable=False)
        case ModelAuthenticationError():
            return Verdict(ModelFault.BAD_KEY, retryable=False)
        case ModelPermissionDeniedError():
            return Verdict(ModelFault.FORBIDDEN, retryable=False)
        case ModelNotFoundError():
            return Verdict(ModelFault.NOT_FOUND, retryable=False)
        case ModelRefusalError():
            return Verdict(ModelFault.REFUSED, retryable=False)
        case ModelRateLimitError():
            if _QUOTA.search(_said(error)):
                return Verdict(ModelFault.QUOTA, retryable=False)
            return Verdict(ModelFault.RATE_LIMITED, retryable=True, retry_after=_retry_after(error))
        case ModelTimeoutError() | TimeoutError() | httpx.TimeoutException():
            return Verdict(ModelFault.TIMEOUT, retryable=True)
        case ModelConnectionError():
            return Verdict(ModelFault.UNREACHABLE, retryable=True)
        case ModelAPIError():
            return Verdict(ModelFault.SERVER, retryable=True, retry_after=_retry_after(error))
        case httpx.TransportError():
            return Verdict(ModelFault.CUT, retryable=True)
        case json.JSONDecodeError():
            return Verdict(ModelFault.SERVER, retryable=True)
        case ModelInvalidRequestError():
            fault = ModelFault.TOO_LONG if _TOO_LONG.search(_said(error)) else ModelFault.INVALID
            return Verdict(fault, retryable=False)
        case ModelError():
            return Verdict(ModelFault.SERVER, retryable=error.is_retryable)
        case ValueError() if str(error).startswith("No generation"):
            # langchain-core, when a stream ended before its first piece.
            return Verdict(ModelFault.CUT, retryable=True)
        case _:
            return _by_status(error)


def _by_status(error: Exception) -> Verdict | None:
    """Judge an SDK's error that LangChain did not map, by its HTTP status."""
    status = getattr(error, "status_code", None)
    response = getattr(error, "response", None)
    if status is None and response is not None:
        status = getattr(response, "status_code", None)
    if not isinstance(status, int):
        # An error event inside a stream has no status; the SDK's class says where it is from.
        known = type(error).__module__.partition(".")[0] in {"openai", "anthropic"}
        return Verdict(ModelFault.SERVER, retryable=True) if known else None
    if status == 402 or _QUOTA.search(_said(error)):
        return Verdict(ModelFault.QUOTA, retryable=False)
    if status in {408, 409, 425, 429} or status >= 500:
        fault = ModelFault.RATE_LIMITED if status == 429 else ModelFault.SERVER
        return Verdict(fault, retryable=True, retry_after=_retry_after(error))
    fault = ModelFault.TOO_LONG if status == 413 or _TOO_LONG.search(_said(error)) else ModelFault.INVALID
    return Verdict(fault, retryable=False)


def _said(error: Exception) -> str:
    """Give an error's text with the provider's error code, which the text may lack."""
    code = getattr(error, "code", None)
    return f"{error} {code}" if isinstance(code, str) else str(error)


def _retry_after(error: Exception) -> float | None:
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None)
    if headers is None:
        return None
    return parse_retry_after(headers.get("retry-after-ms"), headers.get("retry-after"), datetime.now(UTC))


def parse_retry_after(milliseconds: str | None, value: str | None, now: datetime) -> float | None:
    """Read how many seconds to wait; None when there is nothing usable.

    Args:
        milliseconds: ``retry-after-ms``, which OpenAI sends beside the other.
        value: ``Retry-After``: seconds or an HTTP date (RFC 9110, 10.2.3).
        now: Aware.
    """
    for text, unit in ((milliseconds, 0.001), (value, 1.0)):
        try:
            seconds = float(text) * unit if text is not None else -1.0
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    if value is None:
        return None
    try:
        at = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())


def words(fault: ModelFault, model: str) -> str:
    """Say to the people in the chat what happened and what to do next."""
    match fault:
        case ModelFault.BAD_KEY:
            return (
                f"The model {model} refused our API key. Whoever runs me must check it in the configuration."
            )
        case ModelFault.FORBIDDEN:
            return (
                f"Our account may not use the model {model}. Choose another with /models, or ask "
                "whoever runs me."
            )
        case ModelFault.NOT_FOUND:
            return (
                f"The provider does not know the model {model}. Choose another with /models, or ask whoever "
                "runs me to check its name and address in the configuration."
            )
        case ModelFault.TOO_LONG:
            return f"This conversation is too long for the model {model}. Start a new one with /new."
        case ModelFault.RATE_LIMITED:
            return (
                f"The model {model} is taking no more requests from us for now. Wait a minute and send your "
                "message again, or choose another model with /models."
            )
        case ModelFault.QUOTA:
            return (
                f"Our account for the model {model} is used up. Whoever runs me must top it up; until then "
                "choose another with /models."
            )
        case ModelFault.UNREACHABLE:
            return (
                f"I cannot reach the model {model}. Send your message again in a minute; if it stays so, "
                "whoever runs me must check its address and the network."
            )
        case ModelFault.TIMEOUT:
            return (
                f"The model {model} did not answer in time. Send your message again, or choose another "
                "with /models."
            )
        case ModelFault.REFUSED:
            return f"The model {model} refused to answer this. Ask in other words."
        case ModelFault.INVALID:
            return (
                f"The model {model} did not accept the request. Start a new conversation with /new, or "
                "choose another model with /models; if it stays so, tell whoever runs me."
            )
        case ModelFault.SERVER | ModelFault.CUT:
            return (
                f"The model {model} keeps failing. Send your message again in a minute, or choose another "
                "model with /models."
            )
