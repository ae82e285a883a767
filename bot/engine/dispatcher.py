"""The port through which work is asked for."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from bot.lanes import Lane, LaneKind

Handler = Callable[[Lane], Awaitable[None]]
"""Does whatever is left to do in a lane, and returns. Called for one lane by one caller at a time."""

Slots = Mapping[LaneKind, int]
"""How many lanes of a kind are served at once in this process."""


class Dispatcher(Protocol):
    """Gets the handler called for every lane that was woken, on some node, one at a time per lane."""

    async def start(self, handler: Handler) -> None:
        """Begin to serve."""

    async def wake(self, lane: Lane) -> None:
        """Have the lane served soon. Also when it is being served now: it is then served once more."""

    async def drain(self) -> None:
        """Begin no further lane in this process; those being served go on."""

    async def close(self) -> None:
        """Cancel what is still being served and let go of everything."""
