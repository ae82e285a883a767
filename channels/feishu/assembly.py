"""Putting together what the platform sends in several frames."""

from collections.abc import Callable
from dataclasses import dataclass, field

from channels.feishu.frames import Frame

PART_SECONDS = 5.0
"""How long the parts of one payload may take to arrive (the platform's own SDKs)."""

_MOST_PARTS = 1000
_MOST_OPEN = 64
_MOST_BYTES = 16 * 1024 * 1024


@dataclass(slots=True)
class _Parts:
    total: int
    since: float
    received: dict[int, bytes] = field(default_factory=dict)


class Assembler:
    """Collects parts by message id, in any order; forgets what stays incomplete.

    What is forgotten is not acknowledged either, so the platform sends it again.

    Args:
        monotonic: Seconds that only grow.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._open: dict[str, _Parts] = {}

    def add(self, frame: Frame) -> bytes | None:
        """The whole payload, or None while parts are missing or the frame's numbers make no sense."""
        payload = frame.payload or b""
        total, index = _count(frame.header("sum")), _count(frame.header("seq"))
        if total is None or total <= 1:
            return payload
        if index is None or index >= total or total > _MOST_PARTS:
            return None
        self._forget_old()
        key = frame.header("message_id")
        parts = self._open.setdefault(key, _Parts(total, self._monotonic()))
        if parts.total != total:
            del self._open[key]
            return None
        parts.received[index] = payload
        if len(parts.received) < total:
            self._forget_excess()
            return None
        del self._open[key]
        return b"".join(parts.received[number] for number in range(total))

    def _forget_old(self) -> None:
        oldest = self._monotonic() - PART_SECONDS
        self._open = {key: parts for key, parts in self._open.items() if parts.since >= oldest}

    def _forget_excess(self) -> None:
        def held() -> int:
            return sum(len(part) for parts in self._open.values() for part in parts.received.values())

        while len(self._open) > _MOST_OPEN or held() > _MOST_BYTES:
            del self._open[next(iter(self._open))]


def _count(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None
