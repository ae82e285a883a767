"""From the end of a run to the messages that tell of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.drafts import Draft, FileDraft
from bot.store.runs import Turn
from channels.messages import Address, Button

Splitter = Callable[[Address, str], list[str]]
"""Cuts text into pieces that each fit one message at an address."""


def answer_drafts(turn: Turn, answer: str, files: Sequence[FileDraft], split: Splitter) -> list[Draft]:
    """The deliveries of an answer, per target: its text, then its files. Pure."""
    drafts: list[Draft] = []
    for place, address in enumerate(turn.targets):
        pieces: list[str | FileDraft] = [*split(address, answer), *files]
        drafts += _drafts(
            f"{turn.run_id}:{place}", address, pieces, turn.message.message_id, quote=turn.quoted
        )
    return drafts


def reply_drafts(
    key: str,
    address: Address,
    text: str,
    split: Splitter,
    in_reply_to: str,
    buttons: tuple[Button, ...] = (),
) -> list[Draft]:
    """The deliveries of a short reply that no run made; the last one has the buttons. Pure."""
    drafts = _drafts(key, address, split(address, text), in_reply_to, quote=False)
    return [*drafts[:-1], *(replace(draft, buttons=buttons) for draft in drafts[-1:])]


def _drafts(
    key: str, address: Address, pieces: Sequence[str | FileDraft], in_reply_to: str, *, quote: bool
) -> list[Draft]:
    return [
        Draft(
            key=f"{key}:{number}",
            address=address,
            text=piece if isinstance(piece, str) else None,
            file=None if isinstance(piece, str) else piece,
            in_reply_to=in_reply_to,
            quote=quote and number == 0,
            final=number == len(pieces) - 1,
        )
        for number, piece in enumerate(pieces)
    ]
