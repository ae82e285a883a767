"""The event stream of one chat: entries from the ledger, live progress, keep-alives."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from channels.feed import Feed
from channels.messages import Address
from channels.views import RunView
from channels.web.wire import KEEP_ALIVE, entry_event, progress_event

PAGE = 100
"""Entries read from the feed at a time, and how many a stream without a cursor begins with."""

RETRY_MS = 1000
"""How long a browser waits before it connects again."""


@dataclass(slots=True)
class Mailbox:
    """What a slow reader has not been told yet. Holds one flag and one view, however much happens."""

    changed: bool = True
    view: RunView | None = None
    _filled: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._filled.set()

    def put(self, news: RunView | None) -> None:
        """Add news; a newer view replaces an older one."""
        if news is None:
            self.changed = True
        else:
            self.view = news
        self._filled.set()

    async def take(self, timeout: float) -> tuple[bool, RunView | None]:
        """Wait for news, at most ``timeout`` seconds; (False, None) when there was none."""
        try:
            async with asyncio.timeout(timeout):
                await self._filled.wait()
        except TimeoutError:
            return False, None
        self._filled.clear()
        news = self.changed, self.view
        self.changed, self.view = False, None
        return news


class EventStream(Response):
    """A server-sent event response that ends when the reader leaves or the server closes.

    Args:
        feed: What to read.
        address: Which chat.
        after: Cursor to go on from; None starts with the latest entries.
        closing: Set when the server shuts down.
        keep_alive: Seconds of silence before a comment is sent.
    """

    media_type = "text/event-stream"

    def __init__(
        self, feed: Feed, address: Address, after: str | None, closing: asyncio.Event, keep_alive: float
    ) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._feed = feed
        self._address = address
        self._after = after
        self._closing = closing
        self._keep_alive = keep_alive

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await send(_chunk(f"retry: {RETRY_MS}\n\n".encode()))
        # Subscribe before the first read: what happens in between is then seen twice, not missed.
        async with self._feed.watch(self._address) as changes:
            await self._until_over(changes, receive, send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _until_over(self, changes: AsyncIterator[RunView | None], receive: Receive, send: Send) -> None:
        mailbox = Mailbox()
        tasks = [
            asyncio.create_task(_pump(changes, mailbox)),
            asyncio.create_task(self._write(mailbox, send)),
            asyncio.create_task(_gone(receive)),
            asyncio.create_task(_set(self._closing)),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            task.result()

    async def _write(self, mailbox: Mailbox, send: Send) -> None:
        cursor = self._after
        while True:
            changed, view = await mailbox.take(self._keep_alive)
            if changed:
                cursor = await self._catch_up(cursor, send)
            if view is not None:
                await send(_chunk(progress_event(view)))
            if not changed and view is None:
                await send(_chunk(KEEP_ALIVE))

    async def _catch_up(self, cursor: str | None, send: Send) -> str:
        while True:
            page = await self._feed.read(self._address, cursor, PAGE)
            last = len(page.entries) - 1
            for index, entry in enumerate(page.entries):
                await send(_chunk(entry_event(entry, page.cursor if index == last else None)))
            first_read, cursor = cursor is None, page.cursor
            # The first read without a cursor is the newest page already.
            if first_read or last + 1 < PAGE:
                return cursor


async def _pump(changes: AsyncIterator[RunView | None], mailbox: Mailbox) -> None:
    async for news in changes:
        mailbox.put(news)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _set(event: asyncio.Event) -> None:
    await event.wait()


def _chunk(body: bytes) -> dict[str, object]:
    return {"type": "http.response.body", "body": body, "more_body": True}
