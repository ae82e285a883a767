"""Messages that are to be delivered, before the ledger has them."""

from dataclasses import dataclass

from channels.messages import Address


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
    """

    key: str
    address: Address
    text: str | None = None
    file: FileDraft | None = None
    in_reply_to: str | None = None
    quote: bool = False
    final: bool = False
