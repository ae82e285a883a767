"""Which channels this node has."""

from collections.abc import Iterable, Iterator

from channels.channel import Channel
from channels.messages import Address


class ChannelDirectory:
    """Finds the channel that serves an address.

    Args:
        channels: All channels that are on.
    """

    def __init__(self, channels: Iterable[Channel]) -> None:
        self._channels = {(channel.name, channel.account): channel for channel in channels}

    def __iter__(self) -> Iterator[Channel]:
        return iter(self._channels.values())

    def find(self, address: Address) -> Channel | None:
        """The channel of an address, or None when it is off on this node."""
        return self._channels.get((address.channel, address.account))

    def split(self, address: Address, text: str) -> list[str]:
        """Cut text as the address's channel needs it; whole when that channel is off."""
        channel = self.find(address)
        if channel is None:
            return [text] if text else []
        return channel.split(text)
