"""The verbs of the contract: what people do on a platform, what they see there, and how it fails.

Each channel has a bench that speaks them on a real server: an emulated platform, or our own for the web.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

from channels.channel import Channel
from tests.hart import Site
from tests.telegram.memory_inbox import MemoryInbox

PATIENCE = 20.0
"""Seconds after which something that must happen is taken not to happen."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where people write: a chat, and a thread in it (the platform's own ids)."""

    chat: str
    thread: str | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """A message of the bot as people see it.

    Args:
        id: The platform's own.
        buttons: Their labels.
    """

    id: str
    place: Place
    text: str
    file_name: str | None = None
    data: bytes | None = None
    buttons: tuple[str, ...] = ()


class Bench(ABC):
    """A channel that hears, and the people who write to it.

    Args:
        home: A directory of its own.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.inbox = MemoryInbox()
        self.pauses: list[float] = []
        self._built: list[Channel] = []

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for channel in self._built:
            await channel.close()
        await self.close()

    def build(self, **settings: Any) -> Channel:
        """A new channel to the platform. It waits moments only where it should wait longer (``pauses``)."""
        self._built.append(self.make(**settings))
        return self._built[-1]

    async def let_go(self, channel: Channel) -> None:
        """Close a channel before the end."""
        self._built.remove(channel)
        await channel.close()

    @asynccontextmanager
    async def listening(self, channel: Channel, *, connected: bool = True) -> AsyncIterator[None]:
        """Have a channel receive within the block, which begins once it hears unless told otherwise."""
        async with self.served(channel):
            receiving = asyncio.create_task(channel.receive(self.inbox))
            receiving.add_done_callback(lambda _: self.notify())
            try:
                if connected:
                    await until(lambda: receiving.done() or self.listeners() > 0)
                yield
            finally:
                receiving.cancel()
                with suppress(asyncio.CancelledError):
                    await receiving

    async def pause(self, seconds: float) -> None:
        """What channels wait with: their waits are noted, and short."""
        self.pauses.append(seconds)
        self.notify()
        await asyncio.sleep(0.005)

    @asynccontextmanager
    async def served(self, channel: Channel) -> AsyncIterator[None]:
        """What must stand around a receiving channel so that the platform reaches it."""
        yield

    @abstractmethod
    async def open(self) -> None:
        """Start the platform."""

    @abstractmethod
    async def close(self) -> None:
        """Stop the platform."""

    @abstractmethod
    def make(self, **settings: Any) -> Channel:
        """A channel for :meth:`build`."""

    @abstractmethod
    def notify(self) -> None:
        """Have those who wait for the platform look again."""

    @abstractmethod
    def listeners(self) -> int:
        """How many receivers the platform sees."""

    @abstractmethod
    def emulating(self) -> set["asyncio.Task[Any]"]:
        """Tasks that are the platform's and not the channel's."""

    @abstractmethod
    def direct(self) -> Place:
        """Ann's direct chat with the bot."""

    @abstractmethod
    def say(self, place: Place, text: str, *, mention: bool = False) -> str:
        """Ann writes, to the bot by name if it is mentioned: the id of the message."""

    @abstractmethod
    def send_file(self, place: Place, name: str, data: bytes, text: str = "") -> None:
        """Ann sends a file with some words, or right after them where a file takes none."""

    @abstractmethod
    def deliver_again(self) -> None:
        """The platform delivers all messages so far once more."""

    @abstractmethod
    def lose_acks(self, count: int) -> None:
        """The next acknowledgements get lost on their way."""

    @abstractmethod
    def hurry(self) -> None:
        """The platform waits for acknowledgements tenths of seconds, as little as tests have time for."""

    @abstractmethod
    async def outwait(self) -> None:
        """Wait until the platform has given up to wait for the acknowledgement of what came last."""

    @abstractmethod
    def is_acked(self) -> bool:
        """Whether everything has been acknowledged."""

    async def wait_until_heard(self) -> None:
        """Wait until everything has been acknowledged."""
        await until(self.is_acked)


class PlatformBench(Bench):
    """A channel to a chat platform, on which there are groups, threads and bots, and which breaks.

    Attributes:
        message_limit: What one message may measure, in the platform's unit.
        upload_limit: Bytes of one file that a bot may send.
    """

    message_limit: ClassVar[int]
    upload_limit: ClassVar[int]

    @abstractmethod
    def configure(self, site: Site) -> None:
        """Have a whole Hart listen here."""

    @abstractmethod
    def measure(self, seen: Seen) -> int:
        """What a message measures in the platform's unit."""

    @abstractmethod
    def another_chat(self) -> Place:
        """The direct chat of somebody else."""

    @abstractmethod
    def group(self) -> Place:
        """A group that Ann and the bot are in."""

    @abstractmethod
    def thread(self) -> Place:
        """A thread in a group, begun by Ann."""

    @abstractmethod
    def say_as_bot(self, place: Place, text: str) -> None:
        """Another bot writes, and names ours."""

    @abstractmethod
    def edit(self, place: Place, message_id: str, text: str) -> None:
        """Ann changes what she wrote."""

    @abstractmethod
    def garbage(self) -> int:
        """The platform delivers what no platform should: how much of it must end up on record."""

    @abstractmethod
    def seen(self) -> list[Seen]:
        """All messages of the bot that people see, oldest first."""

    @abstractmethod
    def press(self, seen: Seen, label: str) -> None:
        """Ann presses a button."""

    @abstractmethod
    def is_busy(self, place: Place, message_id: str) -> bool:
        """Whether people see that a message of theirs is being worked on."""

    @abstractmethod
    def limit_posts(self, seconds: int) -> None:
        """The next post is refused as too many, with the seconds to wait."""

    @abstractmethod
    def limit_listening(self, seconds: int) -> None:
        """The next try to listen is refused as too many, with the seconds to wait."""

    @abstractmethod
    def refuse_listening(self) -> None:
        """Every try to listen fails in the platform's front."""

    @abstractmethod
    def offline(self) -> AbstractAsyncContextManager[None]:
        """Nothing answers within the block, and all connections are broken."""

    @abstractmethod
    async def cut(self) -> None:
        """Break the connection that events come on."""

    @abstractmethod
    async def hang_up(self) -> None:
        """End the connection that events come on in good order, as platforms do to renew it."""

    @abstractmethod
    async def silence(self) -> None:
        """Nothing more comes or goes on the connection of events, and nobody ends it."""

    @abstractmethod
    def make_watchful(self) -> Channel:
        """A channel that notices in a moment when a connection has fallen silent."""


async def until(fact: Callable[[], object]) -> None:
    """Wait until something is true of the outside.

    Raises:
        TimeoutError: It did not become true.
    """
    async with asyncio.timeout(PATIENCE):
        while True:
            if fact():
                return
            await asyncio.sleep(0.005)
