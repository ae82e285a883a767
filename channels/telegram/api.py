"""The Bot API as the rest of the channel knows it: calls, faults, and the port to make them.

No text of a fault holds the bot token.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

Json = str | int | bool | Sequence["Json"] | Mapping[str, "Json"]


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that goes with a call.

    Args:
        field: Name of the parameter it is the value of.
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
    """One call of a Bot API method."""

    method: str
    params: dict[str, Json]
    upload: Upload | None = None


class ApiError(Exception):
    """A call that brought no result."""


class NotSentError(ApiError):
    """The request never left: no connection could be made."""


class BrokenError(ApiError):
    """The connection broke or fell silent after the request had left. It may have been obeyed."""


class GarbledError(ApiError):
    """The answer says success, but is not what the Bot API answers.

    Args:
        payload: The answer as text, for the record.
    """

    def __init__(self, payload: str) -> None:
        super().__init__("the answer is not valid Bot API JSON")
        self.payload = payload


class RefusedError(ApiError):
    """The answer is an error.

    Args:
        code: HTTP status.
        description: What the answer said, shortened.
        from_platform: False when the body is not a Bot API error, so that something in between (a
            proxy, a gateway) must have spoken.
        retry_after: Seconds to wait before the next call (Bot API ``ResponseParameters``).
        migrate_to: New id of a group that became a supergroup (same source).
    """

    def __init__(
        self,
        code: int,
        description: str,
        *,
        from_platform: bool,
        retry_after: int | None = None,
        migrate_to: int | None = None,
    ) -> None:
        super().__init__(f"{code}: {description}")
        self.code = code
        self.description = description
        self.from_platform = from_platform
        self.retry_after = retry_after
        self.migrate_to = migrate_to

    @property
    def bad_token(self) -> bool:
        """True when Telegram does not know the token: 401, or 404 for one of the wrong form.

        404 says so only for methods that surely exist.
        """
        return self.from_platform and self.code in (401, 404)


class BotApi(Protocol):
    """Makes calls for one bot."""

    async def call(self, call: ApiCall, *, wait_seconds: float = 0) -> Any:
        """Call a method and return its ``result``, unparsed.

        Args:
            call: What to call.
            wait_seconds: How much longer than usual the answer may take, for a long poll.

        Raises:
            NotSentError, BrokenError, GarbledError, RefusedError: See there.
            OSError: The file to send cannot be read.
        """

    def open_file(self, file_path: str) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """A file's bytes as they arrive.

        Args:
            file_path: As ``getFile`` gave it.

        Raises:
            NotSentError, BrokenError, RefusedError: See there; also while the bytes are read.
        """

    async def close(self) -> None:
        """Close all connections."""
