"""Asking every platform whether our credentials are good, without one that is slow holding up the others."""

import asyncio

from bot.directory import ChannelDirectory
from bot.errors import OperatorError
from channels.channel import Channel
from channels.errors import ChannelRefusedError


class CredentialChecks:
    """One check per channel, all under way at once from now on.

    Args:
        channels: The channels that are on.
    """

    def __init__(self, channels: ChannelDirectory) -> None:
        self._checks = {
            channel: asyncio.create_task(channel.check(), name=f"check-{channel.name}/{channel.account}")
            for channel in channels
        }

    async def settle(self, patience: float | None = None) -> None:
        """Wait for all checks.

        Args:
            patience: Seconds after which those that are not done are left to go on; None waits for all.

        Raises:
            OperatorError: Credentials are refused; all that are known to be are named.
        """
        if self._checks:
            await asyncio.wait(self._checks.values(), timeout=patience)
        refused = []
        for channel, check in self._checks.items():
            if not check.done():
                continue
            fault = check.exception()
            if isinstance(fault, ChannelRefusedError):
                refused.append(f"{channel.name}/{channel.account}: {fault}")
            elif fault is not None:
                raise fault
        if refused:
            raise OperatorError("; ".join(refused))

    async def of(self, channel: Channel) -> None:
        """Wait for the check of one channel.

        Raises:
            ChannelRefusedError: Its credentials are refused.
        """
        await asyncio.shield(self._checks[channel])

    async def close(self) -> None:
        """Wait for nothing more."""
        for check in self._checks.values():
            check.cancel()
        await asyncio.gather(*self._checks.values(), return_exceptions=True)
