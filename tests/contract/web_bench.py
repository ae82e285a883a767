"""The chat page's server on the bench. The page is what it serves: a client that tries again until heard."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from channels.channel import Channel
from channels.feed import FeedChannel
from channels.messages import Address, InboundMessage
from tests.contract.bench import Bench, Place, until
from tests.telegram.memory_inbox import MemoryInbox
from tests.web.local_hall import LocalHall, LocalServer


@dataclass
class _Hall(LocalHall):
    """A hall that only keeps what it hears."""

    inbox: MemoryInbox = field(default_factory=MemoryInbox)

    async def accept(self, message: InboundMessage) -> None:
        await self.inbox.accept(message)

    async def reject(self, address: Address, dedupe_key: str, raw: str, reason: str) -> None:
        await self.inbox.reject(address, dedupe_key, raw, reason)


@dataclass(slots=True)
class _Post:
    """A message that the page has to bring to the server."""

    fields: dict[str, str]
    file: tuple[str, bytes] | None = None
    tries: int = 0
    taken: bool = False


class WebBench(Bench):
    """A page and its server."""

    async def open(self) -> None:
        hall = _Hall(self.home)
        hall.inbox = self.inbox
        self._server = LocalServer(hall)
        self._up = False
        self._patience = 10.0
        self._lost = 0
        self._ids = itertools.count(1)
        self._posts: list[_Post] = []
        self._posting: set[asyncio.Task[None]] = set()
        await self._server.start()
        await self._server.stop()

    async def close(self) -> None:
        for task in self._posting:
            task.cancel()
        await asyncio.gather(*self._posting, return_exceptions=True)

    def make(self, **settings: Any) -> Channel:
        channel: FeedChannel = self._server.hall.channels["web"]
        return channel

    @asynccontextmanager
    async def served(self, channel: Channel) -> AsyncIterator[None]:
        """The server is up within the block; requests at work at its end go no further."""
        await self._server.start()
        self._up = True
        try:
            yield
        finally:
            self._up = False
            stopping = asyncio.create_task(self._server.stop())
            while not stopping.done():
                for task in list(self._server.server.server_state.tasks):
                    task.cancel()
                await asyncio.wait({stopping}, timeout=0.01)
            await stopping

    def notify(self) -> None:
        """Nobody waits to be told."""

    def listeners(self) -> int:
        return int(self._up)

    def emulating(self) -> set["asyncio.Task[Any]"]:
        return set(self._posting)

    def direct(self) -> Place:
        return Place("main")

    def say(self, place: Place, text: str, *, mention: bool = False) -> str:
        return self._post(place, text)

    def send_file(self, place: Place, name: str, data: bytes, text: str = "") -> None:
        self._post(place, text, (name, data))

    def deliver_again(self) -> None:
        for post in list(self._posts):
            self._begin(_Post(post.fields, post.file))

    def lose_acks(self, count: int) -> None:
        self._lost = count

    def hurry(self) -> None:
        self._patience = 0.4

    async def outwait(self) -> None:
        post = self._posts[-1]
        await until(lambda: post.tries > 1)

    def is_acked(self) -> bool:
        return all(post.taken for post in self._posts)

    def _post(self, place: Place, text: str, file: tuple[str, bytes] | None = None) -> str:
        message_id = f"m{next(self._ids)}"
        self._begin(_Post({"text": text, "message_id": message_id}, file))
        return message_id

    def _begin(self, post: _Post) -> None:
        self._posts.append(post)
        task = asyncio.create_task(self._until_taken(post))
        self._posting.add(task)
        task.add_done_callback(self._posting.discard)

    async def _until_taken(self, post: _Post) -> None:
        body: dict[str, Any] = (
            {"json": post.fields}
            if post.file is None
            else {"data": post.fields, "files": {"file": post.file}}
        )
        async with httpx.AsyncClient(
            trust_env=False, headers={"x-hart": "1"}, timeout=self._patience
        ) as page:
            while not post.taken:
                post.tries += 1
                try:
                    answer = await page.post(f"{self._server.url}/api/chats/web/main/messages", **body)
                except httpx.HTTPError:
                    await asyncio.sleep(0.02)
                    continue
                if answer.status_code == 202 and self._lost == 0:
                    post.taken = True
                elif answer.status_code == 202:
                    self._lost -= 1
                else:
                    await asyncio.sleep(0.02)
