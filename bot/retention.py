"""Old things are deleted once a day, where that is configured."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from bot.archive import Archive
from bot.clock import Clock
from bot.config.retention import RetentionConfig
from bot.home import Home
from bot.roles import Roles
from bot.store import archive
from bot.store.archive import ThreadBusyError
from bot.store.database import Database, StoreUnavailableError

log = logging.getLogger(__name__)

SWEEP_SECONDS = 24 * 3600.0
ROLE = "retention"
_BATCH = 500
"""Rows in one transaction, so that nobody waits long for it."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep has deleted."""

    threads: int = 0
    messages: int = 0
    files: int = 0


class Retention:
    """Deletes what is older than is configured, and nothing that is open.

    Args:
        config: For how long things are kept.
        database: The ledger.
        conversations: Deletes whole threads.
        home: Where files are.
        now: The clock.
    """

    def __init__(
        self, config: RetentionConfig, database: Database, conversations: Archive, home: Home, now: Clock
    ) -> None:
        self._config = config
        self._database = database
        self._conversations = conversations
        self._home = home
        self._now = now

    async def run(self) -> None:
        """Sweep now and once a day, for as long as this runs."""
        while True:
            try:
                swept = await self.sweep()
                log.info(
                    "deleted what is old: %d conversations, %d messages, %d files",
                    swept.threads,
                    swept.messages,
                    swept.files,
                )
            except StoreUnavailableError as error:
                log.warning("old things could not be deleted today: %s", error)
            await asyncio.sleep(SWEEP_SECONDS)

    async def sweep(self) -> Swept:
        """Delete what is old by now."""
        config, now = self._config, self._now()
        threads = await self._threads(now - timedelta(days=config.threads_days)) if config.threads_days else 0
        messages = (
            await self._messages(now - timedelta(days=config.messages_days)) if config.messages_days else 0
        )
        files = await self._files(now - timedelta(days=config.files_days)) if config.files_days else 0
        return Swept(threads, messages, files)

    async def _threads(self, before: datetime) -> int:
        count = 0
        for thread_id in await self._database.run(partial(archive.silent_threads, before=before)):
            try:
                await self._conversations.delete(thread_id)
            except ThreadBusyError:
                continue
            count += 1
        return count

    async def _messages(self, before: datetime) -> int:
        count = 0
        while True:
            gone, runs = await self._database.run(partial(archive.expire, before=before, most=_BATCH))
            await asyncio.to_thread(self._home.forget, runs)
            notices = await self._database.run(partial(archive.expire_notices, before=before, most=_BATCH))
            count += gone
            if gone < _BATCH and notices < _BATCH:
                return count

    async def _files(self, before: datetime) -> int:
        needed = await self._database.run(archive.files_needed)
        threads = await asyncio.to_thread(self._home.threads_with_files)
        busy = await self._database.run(partial(archive.busy_threads, thread_ids=threads))
        folders = [self._home.thread_files(one).root for one in threads if one not in busy]
        keep = frozenset(self._home.outgoing(path) for path in needed)
        return await asyncio.to_thread(_delete_old, [*folders, self._home.outbox], keep, before)


@asynccontextmanager
async def sweeping(retention: Retention, roles: Roles) -> AsyncIterator[None]:
    """Sweep once a day while the block runs; of several nodes, one does."""
    task = asyncio.create_task(roles.run_as(ROLE, retention.run))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _delete_old(folders: list[Path], keep: frozenset[Path], before: datetime) -> int:
    """Delete the regular files last changed before; links are neither followed nor deleted."""
    count = 0
    for path in (path for folder in folders for path in _regular_files(folder)):
        try:
            if path not in keep and path.lstat().st_mtime < before.timestamp():
                path.unlink()
                count += 1
        except OSError as error:
            log.warning("an old file could not be deleted: %s", error.strerror)
    return count


def _regular_files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder, followlinks=False):
        for name in names:
            path = Path(parent, name)
            if not path.is_symlink():
                yield path
