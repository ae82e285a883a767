"""Is a text meant for us, and what is left of it without our name? Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from channels.telegram.updates import Entity

_MOST_ENTITIES = 100
"""Entities in one message (Bot API); a server that sends more is not believed."""

_UNIT = 2  # bytes in a UTF-16 code unit
_SEPARATORS = " \t\r\n,:"


@dataclass(frozen=True, slots=True)
class ReadText:
    """What a text says to us.

    Args:
        text: The text without mentions of us; ``/command@us`` became ``/command``.
        addressed: True when it mentions us or begins with a command.
        for_another_bot: True when it begins with a command that names another bot.
    """

    text: str
    addressed: bool = False
    for_another_bot: bool = False


@dataclass(frozen=True, slots=True)
class _Span:
    """A part of a text, in bytes of UTF-16."""

    start: int
    end: int


def read_text(text: str, entities: Sequence[Entity], bot_id: int, username: str) -> ReadText:
    """Look for our name and for commands, as marked by Telegram itself."""
    data = text.encode("utf-16-le", "surrogatepass")
    ours = f"@{username}".casefold()
    cuts: list[_Span] = []
    addressed = False
    for span, entity in _spans(entities, len(data)):
        if cuts and span.start < cuts[-1].end:
            continue
        marked = _decode(data[span.start : span.end])
        if entity.type == "bot_command":
            command, at, target = marked.partition("@")
            leads = not _without(data[: span.start], cuts).strip(_SEPARATORS)
            if at and f"@{target}".casefold() == ours:
                addressed = True
                cuts.append(_Span(span.start + len(command) * _UNIT, span.end))
            elif leads and at:
                return ReadText(text, for_another_bot=True)
            elif leads:
                addressed = True
        elif _names_us(entity, marked, bot_id, ours):
            addressed = True
            cuts.append(span)
    return ReadText(_without(data, cuts), addressed)


def _spans(entities: Sequence[Entity], size: int) -> Iterator[tuple[_Span, Entity]]:
    """The entities that lie within a text of ``size`` bytes, first one first."""
    for entity in sorted(entities[:_MOST_ENTITIES], key=lambda entity: entity.offset):
        span = _Span(entity.offset * _UNIT, (entity.offset + entity.length) * _UNIT)
        if span.start < span.end <= size:
            yield span, entity


def _names_us(entity: Entity, marked: str, bot_id: int, ours: str) -> bool:
    if entity.type == "mention":
        return marked.casefold() == ours
    return entity.type == "text_mention" and entity.user is not None and entity.user.id == bot_id


def _without(data: bytes, cuts: Sequence[_Span]) -> str:
    """The text without the cuts, and without the blanks and commas that they leave behind."""
    starts = [0, *(cut.end for cut in cuts)]
    ends = [*(cut.start for cut in cuts), len(data)]
    kept, *rest = (_decode(data[start:end]) for start, end in zip(starts, ends, strict=True))
    for part in rest:
        if not kept.strip():
            kept = part.lstrip(_SEPARATORS)
        elif kept[-1].isspace() and part[:1].isspace():
            kept += part[1:]
        else:
            kept += part
    return kept.strip()


def _decode(data: bytes) -> str:
    return data.decode("utf-16-le", "surrogatepass")
