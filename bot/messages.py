"""Messages and addresses as the ledger keeps them."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import TypeAdapter

from channels.messages import Address, Button, InboundMessage

_MESSAGE = TypeAdapter(InboundMessage)
_ADDRESSES = TypeAdapter(tuple[Address, ...])
_BUTTONS = TypeAdapter(tuple[Button, ...])


def dump_message(message: InboundMessage) -> str:
    """A message as JSON, without its text, for which a row has a column of its own."""
    return _MESSAGE.dump_json(replace(message, text="")).decode()


def load_message(body: str, text: str = "") -> InboundMessage:
    """The message of :func:`dump_message`, with its text; older rows have it in the JSON as well."""
    message = _MESSAGE.validate_json(body)
    return replace(message, text=text) if text else message


def joined(first: InboundMessage, parts: Sequence[InboundMessage]) -> InboundMessage:
    """The parts of what was sent as one as one message, otherwise like ``first``.

    Args:
        first: One of them.
        parts: All of them, in order: their files and texts stay in it.
    """
    texts = [part.text for part in parts if part.text.strip()]
    return replace(
        first,
        text="\n\n".join(texts),
        attachments=tuple(file for part in parts for file in part.attachments),
        reply_to=next((part.reply_to for part in parts if part.reply_to is not None), None),
    )


def dump_addresses(addresses: Sequence[Address]) -> str:
    """Addresses as JSON."""
    return _ADDRESSES.dump_json(tuple(addresses)).decode()


def load_addresses(body: str) -> tuple[Address, ...]:
    """The addresses of :func:`dump_addresses`."""
    return _ADDRESSES.validate_json(body)


def dump_buttons(buttons: Sequence[Button]) -> str:
    """Buttons as JSON."""
    return _BUTTONS.dump_json(tuple(buttons)).decode()


def load_buttons(body: str) -> tuple[Button, ...]:
    """The buttons of :func:`dump_buttons`."""
    return _BUTTONS.validate_json(body)


def storable(text: str) -> str:
    """Text that every database takes: no NUL (Postgres refuses it) and no lone surrogate (UTF-8 does)."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
