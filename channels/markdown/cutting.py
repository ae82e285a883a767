"""Cutting Markdown into pieces that each fit one message and each make sense alone. Pure."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from channels.markdown.outline import Fence, Outline, Solid, outline
from channels.text import Measure, farthest_end, grapheme_ends

_LINE = re.compile(r"\n(?:[ \t\r]*\n)*")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*[^\S\n]+|(?<=[。！？])[”’」』）]*[^\S\n]*")
_WORD = re.compile(r"[^\S\n]+|[，、；：]")
_BORDERS = (_LINE, _SENTENCE, _WORD)
_STRUCTURE = re.compile(r"(?:[-+*]|#{1,6}|\d{1,9}[.)])(?:\s|$)|[>|=]|`{3}|~{3}|-{2}|[*_][ \t]*[*_]")
"""What would begin a list, heading or the like if a line began with it."""

_INDENT = re.compile(r"[ \t]*")
_NEXT_INDENT = re.compile(r"[^\n]*\n(?:[ \t\r]*\n)*([ \t]*)(?=\S)")
_LARGEST_ADDITION = 4
"""A piece may begin and end with additions of at most this part of the limit."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece.

    Args:
        source: The part of the whole text it stands for.
        text: What to send: that part, made to stand alone. A code block cut in two is closed and
            opened again, a table gets its head again, an inner list item is moved to the margin.
    """

    source: str
    text: str


def split_markdown(text: str, limit: int, measure: Measure = len) -> list[str]:
    """Cut Markdown into pieces to send; see :func:`cut_markdown`. None is empty."""
    return [piece.text for piece in cut_markdown(text, limit, measure) if piece.text]


def join_markdown(pieces: Sequence[Piece]) -> str:
    """The text that :func:`cut_markdown` cut."""
    return "".join(piece.source for piece in pieces)


def cut_markdown(text: str, limit: int, measure: Measure = len) -> list[Piece]:
    """Cut Markdown into pieces whose ``text`` measures at most ``limit`` each.

    A cut falls between paragraphs, items, lines, sentences or words, in that order of preference, and
    goes through bold text, a link, a table row or a code span only where one alone is longer than a
    piece. It never goes through what people see as one character, unless that is longer than a piece.

    Args:
        text: CommonMark with tables, of any sort. Empty text gives no piece.
        limit: The most a piece may measure.
        measure: The unit of ``limit``. The measure of two texts joined must not exceed the sum of theirs.

    Raises:
        ValueError: ``limit`` is too small for a single code point of the text.
    """
    if not text:
        return []
    if len(text) <= limit and measure(text) <= limit:
        return [Piece(text, text)]
    return _Cutter(text, limit, measure).pieces()


class _Cutter:
    """Cuts one text."""

    def __init__(self, text: str, limit: int, measure: Measure) -> None:
        self._text = text
        self._limit = limit
        self._measure = measure
        self._outline: Outline = outline(text)
        self._fences = [fence for fence in self._outline.fences if self._is_small(_closing(fence))]
        self._fence_starts = [fence.start for fence in self._fences]
        self._table_starts = [table.start for table in self._outline.tables]
        self._indented_starts = [code.start for code in self._outline.indented]

    def pieces(self) -> list[Piece]:
        pieces: list[Piece] = []
        start = 0
        while start < len(self._text):
            head, end = self._extent(start)
            if end < len(self._text):
                end = self._cut(start, end)
            pieces.append(self._piece(start, end, head))
            start = end
        return pieces

    def _extent(self, start: int) -> tuple[str, int]:
        """What the piece at ``start`` has to begin with, and how far it may reach."""
        head = self._head(start)
        room = self._limit - (self._measure(head) if head else 0)
        end = farthest_end(self._text, start, room, self._measure)
        if end < len(self._text):
            first = max(bisect_right(self._fence_starts, start) - 1, 0)
            tails = [_closing(f) for f in self._fences[first : bisect_right(self._fence_starts, end)]]
            longest = max((self._measure(tail) for tail in tails), default=0)
            if longest:
                end = farthest_end(self._text, start, room - longest, self._measure)
        return head, end

    def _piece(self, start: int, end: int, head: str) -> Piece:
        source = self._text[start:end]
        at_line = start == 0 or self._text[start - 1] == "\n"
        body = dedent(source, self._indent(start, at_line), first=at_line)
        fence = self._fence_at(end)
        tail = ""
        if fence is not None and end < len(self._text):
            tail = _closing(fence)[source.endswith("\n") :]
        return Piece(source, head + body + tail)

    def _head(self, start: int) -> str:
        fence = self._fence_at(start)
        if fence is not None:
            opening = f"{_outer(fence.margin)}{fence.mark}{fence.info}\n"
            if self._is_small(opening):
                return opening
            return f"{_outer(fence.margin)}{fence.mark}\n"
        index = bisect_right(self._table_starts, start) - 1
        if index >= 0 and start > 0 and self._text[start - 1] == "\n":
            table = self._outline.tables[index]
            if start < table.end and self._is_small(table.head):
                return dedent(table.head, _indentation(table.head, 0))
        return ""

    def _indent(self, start: int, at_line: bool) -> str:
        """What to take away from the lines of a piece, so that an inner item does not read as code."""
        fence = self._fence_at(start)
        if fence is not None:
            return fence.margin if not fence.margin.strip() else ""
        if start == 0:
            return ""
        place = start
        if at_line:
            indent = _indentation(self._text, start)
        else:
            following = _NEXT_INDENT.match(self._text, start)
            if following is None:
                return ""
            indent, place = following[1], following.start(1)
        index = bisect_right(self._indented_starts, place) - 1
        if index >= 0 and place < self._outline.indented[index].end:
            return ""
        return indent

    def _cut(self, start: int, end: int) -> int:
        """Where to end the piece that begins at ``start`` and may reach ``end``, which is not the last."""
        whole = grapheme_ends(self._text, start, end)
        third, half = start + (end - start) // 3, start + (end - start) // 2
        for avoided in (self._outline.spans, self._outline.solid, None):
            if avoided is self._outline.spans:
                found = _last(self._outline.blocks, third, end) or _last(self._outline.parts, half, end)
                if found:
                    return found
            for floor in (half, start):
                found = self._border(floor, end, whole, avoided)
                if found:
                    return found
            free = [cut for cut in whole if self._allows(cut, avoided)]
            if free:
                return max(free)
        return max(whole, default=end)

    def _border(self, floor: int, end: int, whole: set[int], avoided: Solid | None) -> int | None:
        """The last line, sentence or word that ends between ``floor`` and ``end``."""
        for border in _BORDERS:
            cuts = [match.end() for match in border.finditer(self._text, floor, end)]
            for cut in reversed(cuts):
                if cut > floor and cut in whole and self._allows(cut, avoided):
                    return cut
        return None

    def _allows(self, cut: int, avoided: Solid | None) -> bool:
        if avoided is None:
            return True
        if self._text[cut - 1] != "\n" and _STRUCTURE.match(self._text, cut):
            return False
        return not avoided.cut_by(cut)

    def _fence_at(self, place: int) -> Fence | None:
        """The code block that a cut at ``place`` goes through."""
        index = bisect_right(self._fence_starts, place) - 1
        if index >= 0 and place < self._fences[index].end:
            return self._fences[index]
        return None

    def _is_small(self, addition: str) -> bool:
        return self._measure(addition) * _LARGEST_ADDITION <= self._limit


def dedent(text: str, indent: str, *, first: bool = True) -> str:
    """Take ``indent`` from the lines that begin with it, up to the first that does not.

    Args:
        text: Some lines.
        indent: Spaces and tabs.
        first: False leaves the first line as it is.
    """
    if not indent:
        return text
    lines = text.split("\n")
    for number in range(0 if first else 1, len(lines)):
        if lines[number].startswith(indent):
            lines[number] = lines[number][len(indent) :]
        elif lines[number].strip():
            break
    return "\n".join(lines)


def _indentation(text: str, place: int) -> str:
    found = _INDENT.match(text, place)
    return found[0] if found else ""


def _outer(margin: str) -> str:
    """The margin of a code block that is opened again: the quotes around it, not the lists."""
    return margin[: margin.rindex(">") + 1] + " " if ">" in margin else ""


def _closing(fence: Fence) -> str:
    return f"\n{_outer(fence.margin)}{fence.mark}"


def _last(places: Sequence[int], floor: int, end: int) -> int | None:
    """The last place that is after ``floor`` and not after ``end``."""
    index = bisect_right(places, end) - 1
    return places[index] if index >= 0 and places[index] > floor else None
