"""From the end of a run to the messages that tell of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.drafts import Draft, FileDraft
from bot.store.runs import Turn
from channels.markdown.cutting import split_markdown
from channels.messages import Address, Button, InboundMessage

Splitter = Callable[[Address, str], list[str]]
"""Cuts text into pieces that each fit one message at an address."""


MOST_PIECES = 4
"""An answer that takes more messages than this becomes a short message and a file."""

ANSWER_FILE = "answer.md"
"""The name people see of such a file."""

_OPENING_LENGTH = 600


def goes_as_file(turn: Turn, answer: str, split: Splitter) -> bool:
    """Whether an answer is too long for the chat of some target. Pure."""
    return any(len(split(address, answer)) > MOST_PIECES for address in turn.targets)


def answer_drafts(
    turn: Turn,
    answer: str,
    files: Sequence[FileDraft],
    split: Splitter,
    whole: FileDraft | None = None,
) -> list[Draft]:
    """The deliveries of an answer, per target: its text, then its files. Pure.

    Args:
        turn: What was answered.
        answer: Markdown.
        files: What goes with it.
        split: Cuts text.
        whole: The answer as a file, for targets where it is too long to post.
    """
    drafts: list[Draft] = []
    for place, address in enumerate(turn.targets):
        texts = split(address, answer)
        pieces: list[str | FileDraft] = [*texts, *files]
        if whole is not None and len(texts) > MOST_PIECES:
            pieces = [*split(address, opening(answer)), whole, *files]
        drafts += _drafts(f"{turn.run_id}:{place}", address, pieces, turn.message, quote=turn.quoted)
    return drafts


def opening(answer: str) -> str:
    """How a long answer begins, and where the rest is. Pure."""
    first = split_markdown(answer.lstrip(), _OPENING_LENGTH)[0].rstrip()
    return (
        f"{first}\n\n…\n\n(The answer is long: all {len(answer):,} characters are in the file {ANSWER_FILE}.)"
    )


def reply_drafts(
    key: str, message: InboundMessage, text: str, split: Splitter, buttons: tuple[Button, ...] = ()
) -> list[Draft]:
    """The deliveries of a short reply that no run made; the last one has the buttons. Pure."""
    drafts = _drafts(key, message.address, split(message.address, text), message, quote=False)
    return [*drafts[:-1], *(replace(draft, buttons=buttons) for draft in drafts[-1:])]


def _drafts(
    key: str, address: Address, pieces: Sequence[str | FileDraft], answered: InboundMessage, *, quote: bool
) -> list[Draft]:
    return [
        Draft(
            key=f"{key}:{number}",
            address=address,
            text=piece if isinstance(piece, str) else None,
            file=None if isinstance(piece, str) else piece,
            in_reply_to=answered.message_id,
            quote=quote and number == 0,
            final=number == len(pieces) - 1,
            reply_via=answered.reply_via if address == answered.address else None,
        )
        for number, piece in enumerate(pieces)
    ]
