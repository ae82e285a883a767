"""Ways for the emulated Feishu to misbehave, switched on by a test."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answers with an error and does nothing."""

    code: int
    message: str = "refused"
    status: int = 400
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """Answers with these bytes and does nothing: a gateway's page, or garbage."""

    body: bytes
    status: int = 200


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


Fault = Refuse | RawAnswer | DropBefore | DropAfter | Hang | Slow


def too_many(reset: int | None = None, status: int = 429) -> Refuse:
    """The gateway's rate limit; older methods answer it with 400."""
    headers = {} if reset is None else {"x-ogw-ratelimit-limit": "50", "x-ogw-ratelimit-reset": str(reset)}
    return Refuse(99991400, "request trigger frequency limit", status, headers)


def bad_gateway(status: int = 502) -> RawAnswer:
    """A page from the front of the platform, not from the platform."""
    return RawAnswer(b"<html><center><h1>Bad Gateway</h1></center></html>", status)


class Faults:
    """What is to go wrong, per method name; ``*`` stands for any."""

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
