"""Listening on all channels, each on its own."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

from bot.directory import ChannelDirectory
from bot.roles import Roles
from channels.channel import Channel, Inbox
from channels.errors import ChannelRefusedError

log = logging.getLogger(__name__)

RESTART_SECONDS = (1.0, 2.0, 5.0, 15.0, 30.0)

SOUND_SECONDS = 60.0
"""A channel that listened for this long before it broke is started again at once."""


class Receivers:
    """Owns one task per channel, and starts it again when it breaks.

    Args:
        channels: The channels that are on.
        inbox: Where what they hear goes.
        roles: Keeps channels that only one node may listen on to one node.
        checked: Returns once a channel's credentials were checked; raises ``ChannelRefusedError``.
    """

    def __init__(
        self,
        channels: ChannelDirectory,
        inbox: Inbox,
        roles: Roles,
        checked: Callable[[Channel], Awaitable[None]],
    ) -> None:
        self._channels = channels
        self._inbox = inbox
        self._roles = roles
        self._checked = checked
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self) -> None:
        """Begin to listen."""
        for channel in self._channels:
            name = f"{channel.name}/{channel.account}"
            self._tasks[name] = asyncio.create_task(self._listen(channel, name), name=f"receive-{name}")

    def broken(self) -> list[str]:
        """The channels that have stopped listening for good."""
        return [name for name, task in self._tasks.items() if task.done()]

    async def _listen(self, channel: Channel, name: str) -> None:
        failures = 0
        try:
            await self._checked(channel)
        except ChannelRefusedError as error:
            log.error("%s does not listen: %s", name, error)
            return
        while True:
            work = partial(channel.receive, self._inbox)
            began = time.monotonic()
            try:
                await (self._roles.run_as(name, work) if channel.exclusive else work())
            except ChannelRefusedError as error:
                log.error("%s stopped listening: %s", name, error)
                return
            except Exception:
                log.exception("%s stopped listening, starting it again", name)
            if time.monotonic() - began > SOUND_SECONDS:
                failures = 0
            await asyncio.sleep(RESTART_SECONDS[min(failures, len(RESTART_SECONDS) - 1)])
            failures += 1

    async def stop(self) -> None:
        """Stop listening; nothing that was acknowledged is lost."""
        for task in self._tasks.values():
            task.cancel()
        for task in self._tasks.values():
            with suppress(asyncio.CancelledError):
                await task
