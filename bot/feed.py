"""The ledger as the local channels read it: who said what, and what is new."""

import asyncio
import re
from collections.abc import AsyncIterator, Collection
from contextlib import ExitStack, asynccontextmanager
from functools import partial

from bot.engine.signals import Signals
from bot.home import Home
from bot.lanes import chat_key
from bot.messages import load_message
from bot.store import feed
from bot.store.database import Database
from bot.store.tables import Delivery, Inbound
from channels.feed import Cursor, FeedEntry, FeedFile, FeedPage, Staging
from channels.messages import Address, OutboundFile
from channels.views import Phase, RunView

_SENT_FILE = re.compile(r"in-(\d{1,18})-(\d{1,4})")
_CURSOR = re.compile(r"i(\d{1,18})-d(\d{1,18})")


class LedgerFeed:
    """Implements :class:`channels.feed.Feed`.

    News of the ledger reaches every node. Live progress is seen on the node that does the work.

    Args:
        database: The ledger.
        home: Where outgoing files lie.
        signals: Hears what is new.
    """

    def __init__(self, database: Database, home: Home, signals: Signals) -> None:
        self._database = database
        self._home = home
        self._signals = signals
        self._views: dict[Address, RunView] = {}
        self._watchers: dict[Address, set[_Watcher]] = {}

    async def read(self, address: Address, after: Cursor | None, limit: int) -> FeedPage:
        """See :class:`channels.feed.Feed`."""
        place = _CURSOR.fullmatch(after or "")
        if place is None:
            said = await self._database.run(partial(feed.latest, address=address, limit=limit))
            return _page(said, (0, 0), limit, newest=True)
        seen = (int(place[1]), int(place[2]))
        said = await self._database.run(
            partial(feed.after, address=address, inbound_id=seen[0], delivery_id=seen[1], limit=limit)
        )
        return _page(said, seen, limit, newest=False)

    @asynccontextmanager
    async def watch(self, address: Address) -> AsyncIterator[AsyncIterator[RunView | None]]:
        """See :class:`channels.feed.Feed`."""
        watcher = _Watcher()
        watchers = self._watchers.setdefault(address, set())
        watchers.add(watcher)
        if address in self._views:
            watcher.show(self._views[address])
        with ExitStack() as stack:
            stack.enter_context(self._signals.listening(_topic(address), watcher.news))
            try:
                yield watcher.changes()
            finally:
                watchers.discard(watcher)
                if not watchers:
                    self._watchers.pop(address, None)

    async def file(self, address: Address, file_id: str) -> OutboundFile | None:
        """See :class:`channels.feed.Feed`."""
        sent = _SENT_FILE.fullmatch(file_id)
        if sent is not None:
            return await self._sent_file(address, int(sent[1]), int(sent[2]))
        if not file_id.isdecimal() or len(file_id) > 18:
            return None
        row = await self._database.run(partial(feed.file, address=address, delivery_id=int(file_id)))
        if row is None or row.file_path is None or row.file_name is None:
            return None
        mime = row.file_mime or "application/octet-stream"
        return OutboundFile(self._home.outgoing(row.file_path), row.file_name, mime)

    async def _sent_file(self, address: Address, inbound_id: int, place: int) -> OutboundFile | None:
        """What a person sent, for as long as it is staged."""
        find = partial(feed.attachment, address=address, inbound_id=inbound_id, place=place)
        attachment = await self._database.run(find)
        if attachment is None:
            return None
        path = Staging(self._home.staging).path(attachment.ref)
        if not path.is_file():
            return None
        return OutboundFile(path, attachment.name, attachment.mime or "application/octet-stream")

    async def notify(self, address: Address) -> None:
        """See :class:`channels.feed.Feed`."""
        await self._signals.publish(_topic(address), "")

    async def progress(self, address: Address, view: RunView) -> None:
        """See :class:`channels.feed.Feed`."""
        if view.phase is Phase.DONE:
            self._views.pop(address, None)
        else:
            self._views[address] = view
        for watcher in self._watchers.get(address, ()):
            watcher.show(view)


class _Watcher:
    """The newest of everything that one reader has not been told yet."""

    def __init__(self) -> None:
        self._wake = asyncio.Event()
        self._stale = False
        self._view: RunView | None = None

    def news(self, _payload: str) -> None:
        self._stale = True
        self._wake.set()

    def show(self, view: RunView) -> None:
        self._view = view
        self._wake.set()

    async def changes(self) -> AsyncIterator[RunView | None]:
        while True:
            await self._wake.wait()
            self._wake.clear()
            view, self._view = self._view, None
            stale, self._stale = self._stale, False
            if view is not None:
                yield view
            if stale:
                yield None


def _topic(address: Address) -> str:
    return f"feed:{chat_key(address)}"


def _page(said: feed.Said, seen: tuple[int, int], limit: int, *, newest: bool) -> FeedPage:
    """Merge both kinds by time, keep ``limit`` entries, and say after which row of each to go on."""
    everything: list[Inbound | Delivery] = [*said.inbound, *said.deliveries]
    rows = sorted(everything, key=_when)
    rows = rows[-limit:] if newest else rows[:limit]
    # Of the newest page, what was cut off is older than what was kept: go on after all of it.
    passed = everything if newest else rows
    inbound_id = max((row.id or 0 for row in passed if isinstance(row, Inbound)), default=seen[0])
    delivery_id = max((row.id or 0 for row in passed if isinstance(row, Delivery)), default=seen[1])
    entries = tuple(_entry(row, said.failed) for row in rows)
    return FeedPage(entries, f"i{inbound_id}-d{delivery_id}")


def _when(row: Inbound | Delivery) -> tuple[float, int, int]:
    if isinstance(row, Inbound):
        return row.received_at.timestamp(), 0, row.id or 0
    return row.created_at.timestamp(), 1, row.id or 0


def _entry(row: Inbound | Delivery, failed: Collection[str]) -> FeedEntry:
    if isinstance(row, Inbound):
        return _person_entry(row)
    return _hart_entry(row, failed=row.run_id in failed)


def _person_entry(row: Inbound) -> FeedEntry:
    attachments = load_message(row.body).attachments
    files = tuple(
        FeedFile(f"in-{row.id}-{place}", file.name, file.mime or "application/octet-stream", file.size or 0)
        for place, file in enumerate(attachments)
    )
    return FeedEntry(
        id=f"in-{row.id}",
        role="person",
        text=row.text,
        files=files,
        at=row.received_at,
        message_id=row.message_id,
        in_reply_to=None,
        final=True,
    )


def _hart_entry(row: Delivery, *, failed: bool) -> FeedEntry:
    files: tuple[FeedFile, ...] = ()
    if row.file_name is not None:
        mime = row.file_mime or "application/octet-stream"
        files = (FeedFile(str(row.id), row.file_name, mime, row.file_size or 0),)
    return FeedEntry(
        id=f"out-{row.id}",
        role="hart",
        text=row.text or "",
        files=files,
        at=row.created_at,
        message_id=row.key,
        in_reply_to=row.in_reply_to,
        final=row.final,
        failed=failed,
    )
