"""How long to wait before the next try."""

from collections.abc import Awaitable, Callable

Pause = Callable[[float], Awaitable[None]]
"""Waits for some seconds; given from outside so that tests need not."""


def backoff_seconds(failures: int, chance: float, *, longest: float) -> float:
    """How long to wait after a number of failures in a row.

    Args:
        failures: At least 1.
        chance: Between 0 and 1, so that many waiting at once do not come back at once.
        longest: Seconds that no wait goes beyond.
    """
    full = min(longest, 2.0 ** min(failures - 1, 10))
    return full * (0.5 + 0.5 * chance)
