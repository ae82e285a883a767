"""The open platform as the rest of the channel knows it: calls, faults, and the port to make them.

No text of a fault holds the app secret, a token, or the address of a long connection, which is as
good as a token.
"""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

TOKEN_CODES = range(99991660, 99991670)
"""Codes that say the access token is not, or no longer, good (open platform, generic error codes)."""

BAD_CREDENTIALS = frozenset({10003, 10012, 10013, 10014, 10015})
"""Codes of the token method that say the app id or the app secret is wrong."""

RATE_LIMITED = frozenset({99991400, 230020})
"""Codes that say "too often": of the gateway, and of sending to one chat."""

_ID = re.compile(r"[A-Za-z0-9_-]{1,200}")


def is_id(text: str) -> bool:
    """True for what can be an id or key of the platform: nothing else may become part of a path."""
    return _ID.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that goes with a call.

    Args:
        field: Name of the form field it is the value of.
        path: Where it lies on this machine.
        name: The name people see.
        mime: Its media type.
    """

    field: str
    path: Path
    name: str
    mime: str


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One call of a method of the open platform.

    Args:
        method: HTTP method.
        path: Path below the server's address.
        query: Query parameters.
        body: The JSON body; with an upload, the other form fields.
        upload: A file, which makes the body a form.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    upload: Upload | None = None


class ApiError(Exception):
    """A call that brought no result."""


class NotSentError(ApiError):
    """The request never left: no connection could be made."""


class BrokenError(ApiError):
    """The connection broke or fell silent after the request had left. It may have been obeyed."""


class GarbledError(ApiError):
    """The answer says success, but is not what the platform answers."""


class RefusedError(ApiError):
    """The answer is an error.

    Args:
        status: HTTP status.
        code: The platform's own code; 0 when the body is not one of its answers, so that something in
            between (a proxy, a gateway) must have spoken.
        message: What the answer said, shortened.
        retry_after: Seconds until the rate limit lets calls through (``x-ogw-ratelimit-reset``).
    """

    def __init__(self, status: int, code: int, message: str, retry_after: float | None = None) -> None:
        super().__init__(f"{status}/{code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.retry_after = retry_after

    @property
    def from_platform(self) -> bool:
        """True when the platform itself answered."""
        return self.code != 0

    @property
    def bad_credentials(self) -> bool:
        """True when the platform does not accept the app id or secret."""
        return self.code in BAD_CREDENTIALS

    @property
    def too_often(self) -> bool:
        """True when a rate limit was hit."""
        return self.status == 429 or self.code in RATE_LIMITED


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a long connection can be opened, once.

    Args:
        url: Its address. Secret: it lets whoever knows it in.
        service: Id to put into the frames we send.
        ping_seconds: How often the platform wants a ping.
    """

    url: str = field(repr=False)
    service: int
    ping_seconds: float


class Link(Protocol):
    """An open long connection."""

    async def receive(self) -> bytes | None:
        """The next message; empty for a mere sign of life.

        Returns:
            None when the connection has ended.
        """

    async def send(self, data: bytes) -> None:
        """Send one message.

        Raises:
            BrokenError: The connection has ended.
        """

    async def ping(self) -> None:
        """Ask for a sign of life.

        Raises:
            BrokenError: The connection has ended.
        """

    async def close(self) -> None:
        """Say good-bye; returns soon even if nobody answers."""


class OpenApi(Protocol):
    """Makes calls for one app."""

    async def call(self, call: ApiCall) -> dict[str, Any]:
        """Make a call with the app's token, and return the whole answer.

        A token that the platform does not take is replaced once.

        Raises:
            NotSentError, BrokenError, GarbledError, RefusedError: See there.
            OSError: The file to send cannot be read.
        """

    async def check_credentials(self) -> None:
        """Get a new token.

        Raises:
            NotSentError, BrokenError, GarbledError, RefusedError: See there.
        """

    def open_resource(self, call: ApiCall) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """A file's bytes as they arrive.

        Raises:
            NotSentError, BrokenError, RefusedError: See there; also while the bytes are read.
        """

    async def endpoint(self) -> Endpoint:
        """Ask where a long connection can be opened.

        Raises:
            NotSentError, BrokenError, GarbledError, RefusedError: See there.
        """

    async def open_link(self, endpoint: Endpoint) -> Link:
        """Open a long connection.

        Raises:
            NotSentError, BrokenError, RefusedError: See there.
        """

    async def close(self) -> None:
        """Close all connections."""
