"""Text as it goes into messages: measured, cut, marked. Pure, and the same for all platforms."""

import re
from collections.abc import Callable

import regex

Measure = Callable[[str], int]
"""How long a text is in a platform's own units; no character may measure less than 1."""

REPEAT_MARK = "(You may have got this already: the connection broke while it was being sent.)"
"""Stands above a message that people may have seen before."""

_GRAPHEME = regex.compile(r"\X")
_BORDERS = (
    re.compile(r"\n[ \t\r]*\n\s*"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+|(?<=[。！？])[”’」』）]*\s*"),
    re.compile(r"\s+|[，、；：]"),
)
"""Where to cut, best first: after a paragraph, a line, a sentence, a word."""


def utf16_length(text: str) -> int:
    """Length in UTF-16 code units, which is how Telegram counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def split_text(text: str, limit: int, measure: Measure = len) -> list[str]:
    """Cut ``text`` into pieces that measure at most ``limit`` each.

    Joining the pieces gives the text back: white space at a cut stays at the end of its piece. A
    cut falls after a paragraph, line, sentence or word where there is one, and never inside what
    people see as one character, unless that one alone is longer than a piece may be.

    Args:
        text: Any text. Empty text gives no piece.
        limit: The most a piece may measure.
        measure: The unit of ``limit``; must never shrink when text is appended.

    Raises:
        ValueError: ``limit`` is too small for a single code point of the text.
    """
    if not text:
        return []
    if len(text) <= limit and measure(text) <= limit:
        return [text]
    pieces: list[str] = []
    start = 0
    while start < len(text):
        end = farthest_end(text, start, limit, measure)
        cut = end if end == len(text) else _cut(text, start, end)
        pieces.append(text[start:cut])
        start = cut
    return pieces


def farthest_end(text: str, start: int, limit: int, measure: Measure) -> int:
    """The largest end for which ``text[start:end]`` still fits."""
    low, high = start, min(len(text), start + limit)
    while low < high:
        middle = (low + high + 1) // 2
        if measure(text[start:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    if low <= start:
        raise ValueError(f"no character fits a limit of {limit}")
    return low


def _cut(text: str, start: int, end: int) -> int:
    """Where to end the piece that begins at ``start`` and may reach ``end``, which is not the last.

    A good border in the second half wins over a better one in the first, which would leave many
    short messages.
    """
    whole = grapheme_ends(text, start, end)
    for floor in (start + (end - start) // 2, start):
        for border in _BORDERS:
            cuts = (match.end() for match in border.finditer(text, floor, end))
            good = [cut for cut in cuts if cut > floor and cut in whole]
            if good:
                return good[-1]
    return max(whole, default=end)


def grapheme_ends(text: str, start: int, end: int) -> set[int]:
    """Ends of the grapheme clusters between ``start`` and ``end``.

    Works on a window because the search looks back without bound in a run of flags. Whether a
    cluster ends at ``end`` depends on one more character, and on nothing after it.
    """
    window = text[start : end + 1]
    ends = {start + match.end() for match in _GRAPHEME.finditer(window)}
    return {cut for cut in ends if cut <= end}
