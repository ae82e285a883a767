"""The ports between a platform and the rest of Hart."""

from datetime import timedelta
from pathlib import Path
from typing import Protocol

from channels.messages import Address, Attachment, InboundMessage, OutboundMessage, Receipt
from channels.views import RunView


class Inbox(Protocol):
    """Where a channel puts what it hears. Both calls return only once the row is on disk."""

    async def accept(self, message: InboundMessage) -> None:
        """Store one message; a second call with the same dedupe key does nothing.

        Raises:
            InboxUnavailableError: It could not be stored; do not acknowledge it.
        """

    async def reject(self, address: Address, dedupe_key: str, raw: str, reason: str) -> None:
        """Record something that could not be understood, so that it is skipped and not lost.

        Args:
            address: As much of the origin as is known.
            dedupe_key: As for :meth:`accept`.
            raw: What came, as text.
            reason: Why it was skipped, for the operator.

        Raises:
            InboxUnavailableError: It could not be stored; do not acknowledge it.
        """


class Channel(Protocol):
    """One account on one platform."""

    @property
    def name(self) -> str:
        """Platform name, as in :class:`~channels.messages.Address`."""

    @property
    def account(self) -> str:
        """Account name, as in :class:`~channels.messages.Address`."""

    @property
    def exclusive(self) -> bool:
        """True when only one node may receive at a time (Telegram long polling)."""

    @property
    def idempotent_for(self) -> timedelta | None:
        """How long after a send the same key, sent again, still posts nothing new; None for never."""

    async def check(self) -> None:
        """Ask the platform whether our credentials are good.

        Returns also when the platform cannot be reached: that may pass, a wrong token will not.

        Raises:
            ChannelRefusedError: The credentials are refused.
        """

    async def receive(self, inbox: Inbox) -> None:
        """Hand everything heard to the inbox, until cancelled. Survives outages by itself.

        Raises:
            ChannelRefusedError: The credentials were taken from us while running.
        """

    def split(self, text: str) -> list[str]:
        """Cut markdown into pieces that each fit one message. Pure. Empty text gives no piece."""

    async def send(self, message: OutboundMessage) -> Receipt:
        """Post one message.

        Raises:
            PermanentSendError, TransientSendError, AmbiguousSendError: See there.
        """

    async def fetch(self, attachment: Attachment, target: Path, max_bytes: int) -> None:
        """Write an attachment's bytes to ``target``, which must not exist yet.

        Raises:
            AttachmentError: It is gone, too large, or could not be read in time.
        """

    async def show(self, address: Address, view: RunView) -> None:
        """Show a run's progress, as far as the platform can. Never raises for platform faults."""

    async def close_buttons(self, message_id: str, message: OutboundMessage, chosen: str) -> None:
        """Take the buttons off a message, after one of them was pressed. Never raises for platform faults.

        Args:
            message_id: The platform's id of the message.
            message: What was posted.
            chosen: Label of the button that was pressed, to be shown in their place where that can be.
        """

    async def close(self) -> None:
        """Let go of connections. The channel is not used afterwards."""
