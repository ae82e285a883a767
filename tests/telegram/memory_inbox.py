"""The other side of the channel's port: an inbox that keeps its rows in memory."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from channels.errors import InboxUnavailableError
from channels.messages import Address, InboundMessage


@dataclass(frozen=True, slots=True)
class Rejected:
    address: Address
    dedupe_key: str
    raw: str
    reason: str


async def _nothing() -> None:
    return


class MemoryInbox:
    """Keeps each dedupe key once. It outlives the channels that fill it.

    ``before`` and ``after`` are awaited around each storing; ``failures`` is how many calls find no
    disk.
    """

    def __init__(self) -> None:
        self.rows: dict[str, InboundMessage | Rejected] = {}
        self.deliveries: list[str] = []
        self.failures = 0
        self.before: Callable[[], Awaitable[None]] = _nothing
        self.after: Callable[[], Awaitable[None]] = _nothing
        self._stored = asyncio.Event()

    @property
    def messages(self) -> list[InboundMessage]:
        return [row for row in self.rows.values() if isinstance(row, InboundMessage)]

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.messages]

    @property
    def rejected(self) -> list[Rejected]:
        return [row for row in self.rows.values() if isinstance(row, Rejected)]

    async def accept(self, message: InboundMessage) -> None:
        await self._store(message.dedupe_key, message)

    async def reject(self, address: Address, dedupe_key: str, raw: str, reason: str) -> None:
        await self._store(dedupe_key, Rejected(address, dedupe_key, raw, reason))

    async def wait_for(self, count: int, timeout: float = 10) -> list[InboundMessage]:
        """Wait until so many messages are stored, and return all."""
        async with asyncio.timeout(timeout):
            while len(self.messages) < count:
                await self._stored.wait()
        return self.messages

    async def _store(self, key: str, row: InboundMessage | Rejected) -> None:
        await self.before()
        self.deliveries.append(key)
        if self.failures > 0:
            self.failures -= 1
            raise InboxUnavailableError("the disk is full")
        self.rows.setdefault(key, row)
        self._stored.set()
        self._stored = asyncio.Event()
        await self.after()
