"""From HTML that strangers wrote to one line of plain text. Pure.

Tags are cut out by linear scans. A real HTML parser gains little here, and Python's own takes seconds for a
few kilobytes of hostile markup.
"""

import re
import unicodedata
from html import unescape

from agent_core.text import one_line

MAX_HTML = 20_000
"""Characters of markup that are looked at for one field."""

_JOINERS = "\u200c\u200d"
_COMMENT, _COMMENT_END = re.compile(r"<!--"), re.compile(r"-->")
_SILENT = re.compile(r"<(?:script|style|template|noscript|iframe|svg)\b[^<>]*>", re.IGNORECASE)
_SILENT_END = re.compile(r"</(?:script|style|template|noscript|iframe|svg)\b[^<>]*>", re.IGNORECASE)
_INLINE = re.compile(r"</?(?:a|abbr|b|code|em|i|mark|s|small|span|strong|sub|sup|u)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"<[A-Za-z/!?][^<>]*>")
# What could pass for our own structure, or act when the text is shown as markdown.
_LOOKALIKES = str.maketrans({"<": "‹", ">": "›", "`": "'"})
_LINK_MARKUP = re.compile(r"(?<=\])(?=[(\[])")


def plain_text(markup: str, limit: int) -> str:
    """Take the text out of HTML and make it harmless: one line of at most ``limit`` characters, without
    tags, invisible characters, code fences or markdown links."""
    text = _without(markup[:MAX_HTML], _COMMENT, _COMMENT_END)
    text = _without(text, _SILENT, _SILENT_END)
    text = unescape(_TAG.sub(" ", _INLINE.sub("", text)))
    visible = "".join(char for char in text if char in _JOINERS or not _is_invisible(char))
    return _LINK_MARKUP.sub(" ", one_line(visible, limit).translate(_LOOKALIKES))


def _is_invisible(char: str) -> bool:
    return unicodedata.category(char) in ("Cf", "Cn", "Co", "Cs")


def _without(text: str, start: re.Pattern[str], end: re.Pattern[str]) -> str:
    """The text without what lies between the marks; from an unclosed mark on nothing is kept."""
    kept = []
    at = 0
    while found := start.search(text, at):
        kept.append(text[at : found.start()])
        close = end.search(text, found.end())
        if close is None:
            return " ".join(kept)
        at = close.end()
    return " ".join([*kept, text[at:]])
