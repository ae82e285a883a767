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
