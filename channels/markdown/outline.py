"""Where the parts of a Markdown text are. Pure.

All positions are indexes into the text. Where a line matters, its ``\\n`` belongs to it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyromark

from channels.markdown.cjk import mark_emphasis

OPTIONS = (
    pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_STRIKETHROUGH | pyromark.Options.ENABLE_TASKLISTS
)
"""CommonMark and what GitHub adds, as models write it."""

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
_FENCE = re.compile(r"(`{3,}|~{3,})([^\n]*)\n?")
_MARKER = re.compile(r"[-+*]|\d{1,9}[.)]")
_WHOLE = frozenset({"Link", "Image"})
_SPANS = frozenset({"Strong", "Emphasis", "Strikethrough"}) | _WHOLE
_BLOCKS = frozenset(
    {"Paragraph", "Heading", "CodeBlock", "BlockQuote", "List", "Item", "Table", "HtmlBlock", "Rule"}
)


@dataclass(frozen=True, slots=True)
class Range:
    """Characters from ``start`` up to ``end``."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced code block that has lines of code.

    Args:
        start: Of its first line of code.
        end: Of its closing line; of what follows it, if it is not closed.
        margin: What stands before the code in each line because of a list or quote around it.
        mark: The fence, such as three backticks.
        info: What follows the fence on its line, such as a language.
    """

    start: int
    end: int
    margin: str
    mark: str
    info: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its head is two lines of which the rows from ``start`` to ``end`` make no sense without."""

    start: int
    end: int
    head: str


@dataclass(frozen=True, slots=True)
class Outline:
    """What a cut has to mind.

    Args:
        blocks: Starts of lines at which a paragraph, list, table or other outermost part begins, but for
            those below a heading.
        parts: The same for parts inside others, such as the items of a list.
        fences: In order; they do not overlap.
        tables: In order; they do not overlap.
        indented: Code that is marked as such by its indentation alone.
        spans: What should stay whole: bold, links, code, rows, a list marker with what it marks.
        solid: The part of ``spans`` that is worse to cut than bold text.
    """

    blocks: Sequence[int]
    parts: Sequence[int]
    fences: Sequence[Fence]
    tables: Sequence[Table]
    indented: Sequence[Range]
    spans: "Solid"
    solid: "Solid"


class Solid:
    """Ranges of text to be kept whole."""

    def __init__(self, ranges: Iterable[Range]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for part in sorted(ranges, key=lambda part: (part.start, -part.end)):
            if self._ends and part.start < self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], part.end)
            else:
                self._starts.append(part.start)
                self._ends.append(part.end)

    def cut_by(self, place: int) -> bool:
        """True when a cut at ``place`` goes through one of them."""
        index = bisect_right(self._starts, place - 1) - 1
        return index >= 0 and place < self._ends[index]


@dataclass(frozen=True, slots=True)
class _Event:
    """The start of a part: its name, where it is, and the names of those around it."""

    name: str
    start: int
    end: int
    depth: int
    fenced: bool = False


def outline(text: str) -> Outline:
    """Find the parts of a text, in time linear to its length."""
    lines = _Lines(text)
    events = list(_events(text))
    blocks, parts = _borders(events, lines)
    fences: list[Fence] = []
    tables: list[Table] = []
    spans: list[Range] = []
    solid: list[Range] = []
    for event in events:
        if event.name in _SPANS:
            (solid if event.name in _WHOLE else spans).append(Range(event.start, event.end))
        elif event.name in ("Code", "TableHead", "TableRow"):
            solid.append(Range(event.start, event.end))
        elif event.name in ("Item", "Heading"):
            solid.append(_lead(text, event))
        elif event.name == "Table":
            tables.append(_table(text, event, lines))
            solid.append(Range(lines.start(event.start), tables[-1].start + 1))
        elif event.name == "CodeBlock" and event.fenced:
            fence = _fence(text, event, lines)
            if fence is not None:
                fences.append(fence)
                solid += [Range(lines.start(event.start), fence.start + 1), Range(fence.end - 1, event.end)]
    return Outline(
        blocks=blocks,
        parts=parts,
        fences=fences,
        tables=tables,
        indented=[
            Range(lines.start(event.start), event.end)
            for event in events
            if event.name == "CodeBlock" and not event.fenced
        ],
        spans=Solid([*spans, *solid]),
        solid=Solid(solid),
    )


class _Lines:
    """Line starts of a text."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def start(self, place: int) -> int:
        """Where the line that holds ``place`` begins."""
        return self._starts[bisect_right(self._starts, place) - 1]


def _events(text: str) -> Iterator[_Event]:
    """The starts of all parts that matter, in order."""
    marked, places = mark_emphasis(_LONE_SURROGATE.sub("\ufffd", text))
    found: list[tuple[str, int, int, int, bool]] = []
    depth = 0
    for payload, where in pyromark.events_with_range(marked, options=OPTIONS):
        name, value = _named(payload)
        if name == "End":
            depth -= 1
            continue
        fenced = False
        if name == "Start":
            name, value = _named(value)
            fenced = isinstance(value, dict) and "Fenced" in value
            depth += 1
        elif name in ("Rule", "Code"):
            depth += 1
        else:
            continue
        found.append((name, where["start"], where["end"], depth, fenced))
        depth -= name in ("Rule", "Code")
    index = _indexes(marked, places, {byte for event in found for byte in event[1:3]})
    for name, start, end, nesting, fenced in found:
        yield _Event(name, index[start], index[end], nesting, fenced)


def _named(payload: Any) -> tuple[str, Any]:
    """An event or tag, which is a name or ``{name: value}``."""
    if isinstance(payload, dict):
        return next(iter(payload.items()))
    return payload, None


def _indexes(marked: str, places: list[int], wanted: set[int]) -> dict[int, int]:
    """From offsets in the UTF-8 of a marked text to indexes in the text without the marks."""
    if marked.isascii():
        return {byte: byte for byte in wanted}
    data = marked.encode()
    marks = [place + number for number, place in enumerate(places)]
    index: dict[int, int] = {}
    before = chars = 0
    for byte in sorted(wanted):
        chars += len(data[before:byte].decode())
        before = byte
        index[byte] = chars - bisect_right(marks, chars - 1)
    return index


def _borders(events: list[_Event], lines: _Lines) -> tuple[list[int], list[int]]:
    """Starts of outermost and of inner parts; none directly below a heading, none twice."""
    blocks: list[int] = []
    parts: list[int] = []
    previous = ""
    for event in events:
        if event.name not in _BLOCKS:
            continue
        start = lines.start(event.start)
        if event.depth == 1:
            if previous != "Heading":
                blocks.append(start)
            previous = event.name
        elif start > (parts[-1] if parts else -1) and start > (blocks[-1] if blocks else -1):
            parts.append(start)
    return blocks, parts


def _lead(text: str, event: _Event) -> Range:
    """A list marker or the ``#`` of a heading, and the first character of what it leads."""
    end = event.start
    while end < event.end and not text[end].isspace():
        end += 1
    while end < event.end and text[end].isspace() and text[end] != "\n":
        end += 1
    return Range(event.start, min(end + 1, event.end))


def _table(text: str, event: _Event, lines: _Lines) -> Table:
    start = lines.start(event.start)
    below = text.find("\n", text.find("\n", event.start) + 1) + 1
    rows = below if start < below <= event.end else event.end
    return Table(rows, event.end, text[start:rows].rstrip("\r\n") + "\n")


def _fence(text: str, event: _Event, lines: _Lines) -> Fence | None:
    opening = _FENCE.match(text, event.start)
    if opening is None or opening.end() >= event.end:
        return None
    mark = opening[1]
    last = lines.start(event.end - 1)
    closing = text[last : event.end].strip(" \t\r\n>")
    closed = last >= opening.end() and len(closing) >= len(mark) and not closing.strip(mark[0])
    end = last if closed else event.end
    if end <= opening.end():
        return None
    margin = _MARKER.sub(_blank, text[lines.start(event.start) : event.start])
    return Fence(opening.end(), end, margin, mark, opening[2].strip())


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
