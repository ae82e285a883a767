"""Emphasis next to Chinese, Japanese and Korean text.

CommonMark lets ``**`` close only where a space or punctuation follows punctuation, which text without
spaces never has: ``**重点：**内容`` would not be bold. A mark that is neither puts that right and is
taken out again after parsing.
"""

import re
from itertools import pairwise

import regex

MARK = "\ufdd0"
"""Stands beside a delimiter while a text is parsed. Unicode keeps it free of meaning (a noncharacter)."""

_RUN = r"(?<![*~\\])(?:\*{1,3}|~~)(?![*~])"
_CJK = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}]"
_PLACE = regex.compile(
    rf"(?<=[\p{{P}}\p{{S}}])(?={_RUN}{_CJK})"  # 重点：|**内容
    rf"|(?<={_CJK}\*{{1,3}}|{_CJK}~~)(?<!\*{{4}})(?=[[\p{{P}}\p{{S}}]--[*~]])",  # 内容**|“重点”**
    regex.VERSION1,
)
_MARK = re.compile(MARK)


def mark_emphasis(text: str) -> tuple[str, list[int]]:
    """The text as CommonMark reads it right, and where in ``text`` marks were put in, in order.

    A mark that the text has itself becomes U+FFFD first, which is as long.
    """
    text = text.replace(MARK, "\ufffd")
    if text.isascii():
        return text, []
    places = [match.start() for match in _PLACE.finditer(text)]
    bounds = [0, *places, len(text)]
    return MARK.join(text[left:right] for left, right in pairwise(bounds)), places


def unmark(text: str) -> str:
    """The text without marks."""
    return _MARK.sub("", text)
