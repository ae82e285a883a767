"""Emphasis next to Chinese, Japanese and Korean text, for Markdown that is rendered elsewhere. Pure."""

import re
from itertools import pairwise

import pyromark

from channels.markdown.cjk import mark_emphasis
from channels.markdown.outline import OPTIONS

GAP = "\u200b"
"""Stands beside a delimiter: invisible, and for CommonMark neither a space nor punctuation."""

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def mend_emphasis(text: str) -> str:
    """The text with invisible gaps where a renderer would otherwise show ``**`` instead of bold.

    Code stays as it is: people copy it.
    """
    places = mark_emphasis(text)[1]
    if not places:
        return text
    text = _LONE_SURROGATE.sub("\ufffd", text)
    alone = _code(text)
    open_places = [place for place in places if not any(part.start < place < part.stop for part in alone)]
    bounds = [0, *open_places, len(text)]
    return GAP.join(text[left:right] for left, right in pairwise(bounds))


def most_gaps(text: str) -> int:
    """How many gaps a text may get at most. Adds up when texts are joined."""
    return text.count("*") + text.count("~")


def _code(text: str) -> list[range]:
    """Where code is, in characters."""
    data = text.encode()
    found = []
    for payload, where in pyromark.events_with_range(text, options=OPTIONS):
        match payload:
            case {"Code": _} | {"Start": {"CodeBlock": _}} | {"Html": _} | {"InlineHtml": _}:
                start = len(data[: where["start"]].decode())
                found.append(range(start, start + len(data[where["start"] : where["end"]].decode())))
    return found
