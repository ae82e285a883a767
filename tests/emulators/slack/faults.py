"""Ways for the emulated Slack to misbehave, switched on by a test."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answers ``{"ok": false, "error": ...}`` and does nothing."""

    error: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """Answers with these bytes and does nothing: a gateway's page, or garbage."""

    body: bytes
    status: int = 200
    content_type: str = "text/html"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DropBefore:
    """Breaks the connection before anything was done."""


@dataclass(frozen=True, slots=True)
class DropAfter:
    """Does what was asked, then breaks the connection in place of an answer.

    A file download breaks off in the middle.
    """


@dataclass(frozen=True, slots=True)
class Hang:
    """Takes the request and never answers."""


@dataclass(frozen=True, slots=True)
class Slow:
    """Waits some seconds before doing anything."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Redirect:
    """Points a download elsewhere."""

    url: str


Fault = Refuse | RawAnswer | DropBefore | DropAfter | Hang | Slow | Redirect


def too_many(retry_after: int) -> Refuse:
    """A rate limit: HTTP 429 with ``Retry-After``."""
    return Refuse("ratelimited", 429, {"Retry-After": str(retry_after)})


def bad_gateway(code: int = 502) -> RawAnswer:
    """A page from the front of Slack, not from the Web API."""
    return RawAnswer(b"<html><center><h1>Bad Gateway</h1></center></html>", code)


def missing_scope(needed: str, provided: str = "chat:write") -> Refuse:
    """The token lacks a scope."""
    return Refuse("missing_scope", more={"needed": needed, "provided": provided})


class Faults:
    """What is to go wrong, per method; ``*`` is any, ``file`` a download, ``upload`` an upload, ``link``
    the opening of a socket, ``response_url`` an answer to a command or press."""

    def __init__(self) -> None:
        self._planned: list[tuple[str, Fault, int | None]] = []

    def add(self, method: str, fault: Fault, times: int | None = 1) -> None:
        """Plan a fault for the next calls of a method; ``None`` means until :meth:`clear`."""
        self._planned.append((method, fault, times))

    def take(self, method: str) -> Fault | None:
        """The fault for a call that has just come in."""
        for index, (planned, fault, times) in enumerate(self._planned):
            if planned in (method, "*"):
                if times is not None:
                    self._planned[index] = (planned, fault, times - 1)
                    if times <= 1:
                        del self._planned[index]
                return fault
        return None

    def clear(self) -> None:
        """Nothing goes wrong any more."""
        self._planned.clear()
