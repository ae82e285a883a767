"""A message with buttons."""

from channels.messages import Address, Button, OutboundMessage, OutboundText
from tests.emulators.slack import Channel

BUTTONS = (Button("a1", "One"), Button("b2", "Two"))


def asking(
    channel: Channel, thread: str | None = None, buttons: tuple[Button, ...] = BUTTONS
) -> OutboundMessage:
    """Asks which one, in a channel or a thread of it."""
    address = Address("slack", "main", channel.id, thread)
    return OutboundMessage(address, "k", OutboundText("Which?", buttons))
