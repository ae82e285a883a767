"""The Web API as the rest of the channel knows it: calls, faults, and the port to make them.

No text of a fault holds a token.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

Json = str | int | bool | Sequence["Json"] | Mapping[str, "Json"]


class Encoding(StrEnum):
    """How a call's parameters travel. Not every method takes every one (Slack docs, "Web API")."""

    JSON = "json"
    FORM = "form"
    QUERY = "query"


class Token(StrEnum):
    """Which of our tokens a call is made with."""

    BOT = "bot"
    APP = "app"


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One call of a Web API method."""

    method: str
    params: dict[str, Json]
    encoding: Encoding = Encoding.JSON
    token: Token = Token.BOT


class ApiError(Exception):
    """A call that brought no result."""


class NotSentError(ApiError):
    """The request never left: no connection could be made."""


class BrokenError(ApiError):
    """The connection broke or fell silent after the request had left. It may have been obeyed."""


class GarbledError(ApiError):
    """The answer says success, but is not what the Web API answers."""


class RefusedError(ApiError):
    """The answer is an error.

    Args:
        status: HTTP status; most errors of Slack come with 200.
        error: Slack's code, such as ``channel_not_found``; empty when something in between spoke.
        retry_after: Seconds to wait before the next call (header ``Retry-After``).
        needed: The scope that is missing, with ``missing_scope``.
    """

    def __init__(
        self, status: int, error: str, *, retry_after: float | None = None, needed: str | None = None
    ) -> None:
        said = error or "no Web API answer"
        super().__init__(f"{status}: {said}{f' ({needed})' if needed else ''}")
        self.status = status
        self.error = error
        self.retry_after = retry_after
        self.needed = needed

    @property
    def rate_limited(self) -> bool:
        """True when we are to come back later."""
        return self.status == 429 or self.error in ("ratelimited", "rate_limited")

    @property
    def bad_token(self) -> bool:
        """True when the token is not good for this app or not good any more."""
        return self.error in BAD_TOKEN


BAD_TOKEN = frozenset(
    {
        "account_inactive",
        "invalid_auth",
        "not_allowed_token_type",
        "not_authed",
        "token_expired",
        "token_revoked",
    }
)
"""Errors that speak of the token alone (Slack docs, ``auth.test``)."""


@dataclass(frozen=True, slots=True)
class Download:
    """A file that is being received.

    Args:
        url: Where it came from in the end.
        content_type: Its media type, in lower case and without parameters.
        attached: True when it comes as a download, not as a page to look at.
        chunks: Its bytes as they arrive.
    """

    url: str
    content_type: str
    attached: bool
    chunks: AsyncIterator[bytes]


class SlackApi(Protocol):
    """Makes calls for one app in one workspace."""

    async def call(self, call: ApiCall) -> dict[str, Any]:
        """Call a method and return its answer, which says ``ok``.

        Raises:
            NotSentError, BrokenError, GarbledError, RefusedError: See there.
        """

    async def upload(self, url: str, path: Path) -> None:
        """Post a file's bytes to where ``files.getUploadURLExternal`` said.

        Raises:
            NotSentError, BrokenError, RefusedError: See there.
            OSError: The file cannot be read.
        """

    async def respond(self, url: str, message: Mapping[str, Json]) -> None:
        """Post a message to the response URL of a command or press. It bears no token.

        Raises:
            NotSentError, BrokenError, RefusedError: See there.
            OutsideError: The address is none of Slack's.
        """

    def open_file(self, url: str) -> AbstractAsyncContextManager[Download]:
        """Receive a file. Our token goes to Slack's hosts only, and not along to where they point.

        Raises:
            NotSentError, BrokenError, RefusedError: See there; also while the bytes are read.
            OutsideError: The file does not lie with Slack.
        """

    async def close(self) -> None:
        """Close all connections."""


class OutsideError(ApiError):
    """An address that is none of Slack's."""
