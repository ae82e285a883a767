"""The local channels, web and console: the ledger holds what was said, the channel only notifies.

:class:`Feed` is the reader's side of the ledger, implemented by the hall. :class:`FeedChannel` is
the sender's side, a :class:`~channels.channel.Channel` whose sends cannot fail: the text is in the
ledger before it is sent, so all that is left is to tell whoever looks at the chat.
"""

import asyncio
import os
import re
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from channels.channel import Inbox
from channels.errors import AttachmentError
from channels.messages import Address, Attachment, OutboundFile, OutboundMessage, Receipt
from channels.views import RunView

LOCAL_ACCOUNT = "main"
"""The one account of a local channel."""

LOCAL_SENDER = "local"
"""Sender id of whoever sits at a local channel."""

STAGED_SECONDS = 7 * 24 * 3600.0
"""How long a staged upload is kept."""

SWEEP_SECONDS = 3600.0
"""How often old uploads are swept away; also the time a restarted process has to use them first."""

Cursor: TypeAlias = str
"""A place in a feed. Opaque: only the feed that made it understands it."""


@dataclass(frozen=True, slots=True)
class FeedFile:
    """A file of an entry.

    Args:
        id: What :meth:`Feed.file` wants; unique within the chat.
        name: The name people see. Hostile until made safe.
        mime: Media type, as far as known.
        size: Bytes.
    """

    id: str
    name: str
    mime: str
    size: int


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """Something said in a chat.

    Args:
        id: Stable and unique, so that an entry seen twice is shown once.
        role: Who said it.
        text: Markdown; may be empty when there are files.
        files: In order.
        at: When (aware).
        message_id: For a person's entry the id its client gave; for Hart's the id of the delivery.
        in_reply_to: For an answer, the ``message_id`` of the person's message it answers.
        final: True for the last part of an answer, and for every entry of a person.
        failed: True when the run behind the answer failed; the text says why.
    """

    id: str
    role: Literal["person", "hart"]
    text: str
    files: tuple[FeedFile, ...]
    at: datetime
    message_id: str
    in_reply_to: str | None
    final: bool
    failed: bool = False


@dataclass(frozen=True, slots=True)
class FeedPage:
    """Some entries, oldest first, and where to go on reading: after the last of them."""

    entries: tuple[FeedEntry, ...]
    cursor: Cursor


class Feed(Protocol):
    """What was said in local chats, and word of what is new. Addresses have no platform thread."""

    async def read(self, address: Address, after: Cursor | None, limit: int) -> FeedPage:
        """The first ``limit`` entries after a cursor; with None, the latest ``limit`` entries.

        A cursor the feed does not know counts as None, so a reader outlives a new database. The
        cursor of an empty page is good for a later call.
        """

    def watch(self, address: Address) -> AbstractAsyncContextManager[AsyncIterator[RunView | None]]:
        """Word of changes from the moment the context is entered.

        None says that the ledger has something new: read again. A view is live progress, and a
        newer one replaces an older one; the current one comes first if a run is on.
        """

    async def file(self, address: Address, file_id: str) -> OutboundFile | None:
        """Where a file of this chat lies, or None if this chat has no such file."""

    async def notify(self, address: Address) -> None:
        """Tell watchers that the ledger has something new for them."""

    async def progress(self, address: Address, view: RunView) -> None:
        """Show watchers how a run stands. Losing one does no harm."""


class Staging:
    """A directory where uploads wait until the agent fetches them.

    Args:
        root: The directory; made when missing, for the owner alone.
    """

    _REF = re.compile(r"[0-9a-f]{8,64}(-[0-9]{1,4})?")

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, ref: str) -> Path:
        """Where a staged file lies.

        Raises:
            AttachmentError: The reference is not one of ours; nothing outside ``root`` is reached.
        """
        if not self._REF.fullmatch(ref):
            raise AttachmentError("This file is not available.")
        return self.root / ref

    def fresh(self) -> Path:
        """A new path for a file that is still being written. Blocking."""
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        return self.root / f"{secrets.token_hex(16)}.part"

    def sweep(self, before: float) -> int:
        """Remove what was last written before a POSIX time; tells how many files. Blocking."""
        removed = 0
        if not self.root.is_dir():
            return removed
        for entry in os.scandir(self.root):
            with suppress(FileNotFoundError):
                if (
                    entry.is_file(follow_symlinks=False)
                    and entry.stat(follow_symlinks=False).st_mtime < before
                ):
                    os.unlink(entry.path)
                    removed += 1
        return removed


class FeedChannel:
    """A local channel.

    Args:
        name: ``web`` or ``console``.
        feed: Whom to tell.
        staging: Where uploads of this channel wait.
    """

    account = LOCAL_ACCOUNT
    exclusive = False
    idempotent_for = timedelta.max

    def __init__(self, name: Literal["web", "console"], feed: Feed, staging: Staging) -> None:
        self.name: str = name
        self.staging = staging
        self._feed = feed

    def address(self, chat: str) -> Address:
        """The address of one of this channel's chats."""
        return Address(channel=self.name, account=self.account, chat_id=chat)

    async def check(self) -> None:
        """Nothing to check: there are no credentials."""

    async def receive(self, inbox: Inbox) -> None:
        """Until cancelled, sweep away old uploads. Messages come in through the web routes."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            await asyncio.to_thread(self.staging.sweep, time.time() - STAGED_SECONDS)

    def split(self, text: str) -> list[str]:
        """One piece: a local chat has no limit. Empty text gives none."""
        return [text] if text else []

    async def send(self, message: OutboundMessage) -> Receipt:
        """Tell the chat's readers; what is sent is in the ledger already."""
        await self._feed.notify(message.address)
        return Receipt(message.key)

    async def fetch(self, attachment: Attachment, target: Path, max_bytes: int) -> None:
        """Copy a staged upload to ``target``, which must not exist yet.

        Raises:
            AttachmentError: It is gone, or larger than ``max_bytes``.
        """
        await asyncio.to_thread(_copy, self.staging.path(attachment.ref), target, max_bytes)

    async def show(self, address: Address, view: RunView) -> None:
        """Show a run's progress to whoever looks."""
        await self._feed.progress(address, view)

    async def close_buttons(self, message_id: str, message: OutboundMessage, chosen: str) -> None:
        """Nothing to do: there are no buttons here."""

    async def close(self) -> None:
        """Nothing to let go of."""


def _copy(source: Path, target: Path, max_bytes: int) -> None:
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError as error:
        raise AttachmentError("This file is no longer available. Please send it again.") from error
    with os.fdopen(descriptor, "rb") as read, target.open("xb") as write:
        try:
            left = max_bytes
            while chunk := read.read(1 << 18):
                left -= len(chunk)
                if left < 0:
                    raise AttachmentError(f"This file is larger than the {max_bytes:,} bytes allowed.")
                write.write(chunk)
        except BaseException:
            target.unlink(missing_ok=True)
            raise
