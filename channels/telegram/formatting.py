"""From Markdown to text with entities, which is the form of formatting that Telegram cannot misread. Pure."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from urllib.parse import urlsplit

import pyromark
from telegramify_markdown import RenderConfig, convert

from channels.markdown.cjk import MARK, mark_emphasis
from channels.markdown.outline import OPTIONS
from channels.text import utf16_length

MOST_ENTITIES = 100
"""Entities in one message; Telegram ignores what comes after (Bot API, ``MessageEntity``)."""

_LONGEST_URL = 2000
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_HOST = re.compile(rf"(?:{_LABEL}\.)+{_LABEL}")
_UNFIT_FOR_URL = re.compile(r"[\s\x00-\x1f\x7f\\<>\"`{}|^]")
_WORTH_READING = re.compile(r"(?!javascript:|data:|vbscript:|tg:|#)\S+", re.IGNORECASE)
_SPOILER = re.compile(r"\|(?=\|)")
_MARK = re.compile(MARK)
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
_VALUE = {"text_link": 0, "pre": 1, "code": 2, "blockquote": 3, "expandable_blockquote": 3, "bold": 4}
_KNOWN = frozenset({*_VALUE, "italic", "underline", "strikethrough"})


@dataclass(frozen=True, slots=True)
class Entity:
    """A formatted part of a message; ``offset`` and ``length`` in UTF-16 code units.

    Args:
        kind: Bot API ``MessageEntity.type``.
        url: Of a ``text_link``.
        language: Of a ``pre``.
    """

    kind: str
    offset: int
    length: int
    url: str | None = None
    language: str | None = None

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.offset + self.length

    def as_json(self) -> dict[str, str | int]:
        """The entity as the Bot API takes it."""
        body: dict[str, str | int] = {"type": self.kind, "offset": self.offset, "length": self.length}
        if self.url is not None:
            body["url"] = self.url
        if self.language is not None:
            body["language"] = self.language
        return body


@dataclass(frozen=True, slots=True)
class Formatted:
    """Text and how it is formatted."""

    text: str
    entities: tuple[Entity, ...] = ()

    def after(self, prefix: str) -> "Formatted":
        """The same with plain text before it."""
        by = utf16_length(prefix)
        return Formatted(prefix + self.text, tuple(replace(e, offset=e.offset + by) for e in self.entities))


def format_markdown(markdown: str) -> Formatted:
    """Format Markdown for Telegram.

    Raw HTML is shown as it was written. A link that Telegram would refuse the whole message for is shown
    as text with its target behind it.
    """
    text, found = convert(_prepare(markdown), config=_appearance())
    entities = [
        Entity(entity.type, entity.offset, entity.length, entity.url, _language(entity.language))
        for entity in found
        if entity.type in _KNOWN
    ]
    return _bounded(_trimmed(_without_bad_links(_without_marks(Formatted(text, tuple(entities))))))


def is_good_url(url: str) -> bool:
    """True when a ``text_link`` to it does not make Telegram refuse the message.

    Telegram refuses relative links, hosts without a dot and any scheme it does not know. Its own
    ``tg:`` links are not good here either, as they can mention people.
    """
    if len(url) > _LONGEST_URL or _UNFIT_FOR_URL.search(url):
        return False
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    return (
        parts.scheme in ("http", "https")
        and "@" not in parts.netloc
        and port != 0
        and len(parts.hostname or "") <= 253
        and _HOST.fullmatch(parts.hostname or "") is not None
    )


def _appearance() -> RenderConfig:
    config = RenderConfig.isolated()
    symbols = config.markdown_symbol
    symbols.heading_level_1 = symbols.heading_level_2 = ""
    symbols.heading_level_3 = symbols.heading_level_4 = ""
    symbols.unordered_list_item = "•"
    symbols.task_uncompleted = "☐"
    symbols.horizontal_rule = "———"
    return config


def _prepare(markdown: str) -> str:
    """Mark what the library would otherwise misread or leave out.

    It takes ``a || b`` for a spoiler, which CommonMark does not have, drops HTML with what is in it, and
    drops the targets of links in tables.
    """
    text = _LONE_SURROGATE.sub("\ufffd", markdown).replace(MARK, "\ufffd")
    text = _inserted(_SPOILER.sub(f"|{MARK}", text))
    return MARK.join(mark_emphasis(part)[0] for part in text.split(MARK))


def _inserted(markdown: str) -> str:
    """With HTML escaped, and the targets of links in tables written out."""
    data = markdown.encode()
    additions: list[tuple[int, bytes]] = []
    tables = 0
    for payload, where in pyromark.events_with_range(markdown, options=OPTIONS):
        match payload:
            case {"Html": _} | {"InlineHtml": _}:
                html = range(where["start"], where["end"])
                additions += [(at, b"\\") for at in html if data[at] == ord("<")]
            case {"Start": {"Table": _}}:
                tables += 1
            case {"End": "Table"}:
                tables -= 1
            case {"Start": {"Link": {"dest_url": str(url), "link_type": kind}}} if tables:
                if kind != "Autolink" and "|" not in url and is_good_url(url):
                    additions.append((where["end"], f" <{url}>".encode()))
    return _with(data, additions).decode()


def _with(data: bytes, additions: list[tuple[int, bytes]]) -> bytes:
    """The bytes with each addition put in at its place."""
    parts: list[bytes] = []
    before = 0
    for at, addition in sorted(additions, key=itemgetter(0)):
        parts += [data[before:at], addition]
        before = at
    return b"".join([*parts, data[before:]])


def _language(info: str | None) -> str | None:
    """The first word of what stands behind a fence."""
    words = (info or "").split()
    return _MARK.sub("", words[0])[:64] or None if words else None


def _moved(entities: Sequence[Entity], place: Callable[[int], int]) -> tuple[Entity, ...]:
    """The entities with both ends put where ``place`` says; those that become empty are gone."""
    moved = []
    for entity in entities:
        offset, end = place(entity.offset), place(entity.end)
        if end > offset:
            moved.append(replace(entity, offset=offset, length=end - offset))
    return tuple(moved)


def _without_marks(formatted: Formatted) -> Formatted:
    text = formatted.text
    if MARK not in text:
        return formatted
    marks = [utf16_length(text[: match.start()]) for match in _MARK.finditer(text)]
    entities = (
        replace(entity, url=_MARK.sub("", entity.url).replace("%EF%B7%90", "")) if entity.url else entity
        for entity in formatted.entities
    )
    return Formatted(
        _MARK.sub("", text),
        _moved(list(entities), lambda place: place - sum(mark < place for mark in marks)),
    )


def _without_bad_links(formatted: Formatted) -> Formatted:
    if all(entity.kind != "text_link" or is_good_url(entity.url or "") for entity in formatted.entities):
        return formatted
    data = formatted.text.encode("utf-16-le")
    additions: list[tuple[int, bytes]] = []
    kept: list[Entity] = []
    for entity in formatted.entities:
        if entity.kind != "text_link" or is_good_url(entity.url or ""):
            kept.append(entity)
            continue
        url = entity.url or ""
        shown = data[2 * entity.offset : 2 * entity.end].decode("utf-16-le", "replace")
        if url.removeprefix("mailto:") != shown and _WORTH_READING.fullmatch(url):
            additions.append((2 * entity.end, f" ({url})".encode("utf-16-le")))

    def place(old: int) -> int:
        return old + sum(len(addition) // 2 for at, addition in additions if at < 2 * old)

    return Formatted(_with(data, additions).decode("utf-16-le"), _moved(kept, place))


def _trimmed(formatted: Formatted) -> Formatted:
    """Without the white space around it, which Telegram cuts off; but code may begin with some."""
    text = formatted.text.rstrip()
    begins_with_code = any(entity.kind == "pre" and entity.offset == 0 for entity in formatted.entities)
    front = 0 if begins_with_code else len(text) - len(text.lstrip())  # white space is one unit each
    if text == formatted.text and not front:
        return formatted
    last = utf16_length(text) - front
    return Formatted(text[front:], _moved(formatted.entities, lambda place: min(max(place - front, 0), last)))


def _bounded(formatted: Formatted) -> Formatted:
    """With the entities that matter most, in order, as many as Telegram takes."""
    by_value = sorted(formatted.entities, key=lambda entity: _VALUE.get(entity.kind, 5))
    kept = sorted(by_value[:MOST_ENTITIES], key=lambda entity: (entity.offset, -entity.length))
    return Formatted(formatted.text, tuple(kept))
