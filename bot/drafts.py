"""Messages that are to be delivered, before the ledger has them."""

from dataclasses import dataclass, field

from channels.messages import Address, Button


@dataclass(frozen=True, slots=True)
class FileDraft:
    """A file to deliver: ``path`` is relative to the home and keeps its content until sent."""

    path: str
    name: str
    mime: str
    size: int


@dataclass(frozen=True, slots=True)
class Draft:
    """A delivery to be. Exactly one of ``text`` and ``file`` is set.

    Args:
        key: Unique: writing the same key twice delivers once.
        address: Where to.
        in_reply_to: Platform id of the message it answers, if any.
        quote: Show it as a reply to that message.
        final: True for the last part of an answer.
        buttons: Below the text.
        pairing_id: The request whose code is put into the text as it is sent.
        reply_via: Where it can go if we may not write in the chat; see
            :class:`~channels.messages.InboundMessage`.
    """

    key: str
    address: Address
    text: str | None = None
    file: FileDraft | None = None
    in_reply_to: str | None = None
    quote: bool = False
    final: bool = False
    buttons: tuple[Button, ...] = ()
    pairing_id: str | None = None
    reply_via: str | None = field(default=None, repr=False)
