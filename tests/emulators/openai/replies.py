"""What the emulated model answers, and what goes wrong on the way."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from tests.emulators.openai.wire import ChatRequest


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the model. ``arguments`` may be a string, to send broken JSON."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None

    def arguments_text(self) -> str:
        """Give the arguments as they go over the wire."""
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(dict(self.arguments), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer.

    Args:
        text: What the model says.
        calls: Tools it calls.
        delay: Seconds before the first byte.
        chunk_delay: Seconds between two chunks of a stream.
        finish_reason: None gives ``tool_calls`` or ``stop``.
        chunk_size: Characters of text in a chunk.
        reasoning: What the model thought before, sent under ``reasoning_field``.
        reasoning_field: ``reasoning_content`` or, as some servers call it, ``reasoning``.
        usage_style: How cached tokens are counted: ``openai``, ``deepseek`` or ``kimi``.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    delay: float = 0.0
    chunk_delay: float = 0.0
    finish_reason: str | None = None
    chunk_size: int = 8
    reasoning: str = ""
    reasoning_field: str = "reasoning_content"
    usage_style: Literal["openai", "deepseek", "kimi"] = "openai"


Responder = Callable[[ChatRequest], Reply | Awaitable[Reply]]


class FaultKind(StrEnum):
    """What can go wrong."""

    STATUS = "status"
    HANG = "hang"
    HANG_MID_STREAM = "hang_mid_stream"
    CUT_CLEANLY = "cut_cleanly"
    CUT_HARD = "cut_hard"
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault, used up by one request.

    Args:
        kind: What happens.
        status: For ``STATUS``.
        message: For ``STATUS``.
        code: For ``STATUS``: OpenAI's error code.
        headers: For ``STATUS``.
    """

    kind: FaultKind
    status: int = 500
    message: str = "The server had an error while processing your request."
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_status(
        cls,
        status: int,
        message: str = "The server had an error while processing your request.",
        *,
        code: str | None = None,
        retry_after: str | None = None,
    ) -> "Fault":
        """Answer with an HTTP error."""
        headers = {} if retry_after is None else {"retry-after": retry_after}
        return cls(FaultKind.STATUS, status, message, code, headers)

    @classmethod
    def hang(cls) -> "Fault":
        """Take the request and never answer."""
        return cls(FaultKind.HANG)

    @classmethod
    def hang_mid_stream(cls) -> "Fault":
        """Send some chunks, then nothing more."""
        return cls(FaultKind.HANG_MID_STREAM)

    @classmethod
    def cut_cleanly(cls) -> "Fault":
        """End a stream early as if it were whole: no finish_reason, no [DONE]."""
        return cls(FaultKind.CUT_CLEANLY)

    @classmethod
    def cut_hard(cls) -> "Fault":
        """Break the connection in the middle of a stream."""
        return cls(FaultKind.CUT_HARD)

    @classmethod
    def malformed(cls) -> "Fault":
        """Send something that is no JSON in the middle of a stream."""
        return cls(FaultKind.MALFORMED)


def echo(request: ChatRequest) -> Reply:
    """Answer ``answer to: <what the user said last>``."""
    return Reply(f"answer to: {request.last_user_text}")


def sequence(replies: Sequence[Reply], then: Responder = echo) -> Responder:
    """Give the replies one after another, then what ``then`` says."""
    left = list(replies)

    def respond(request: ChatRequest) -> Reply | Awaitable[Reply]:
        return left.pop(0) if left else then(request)

    return respond
