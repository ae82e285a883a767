"""From HTML that strangers wrote to one line of plain text. Pure."""

import re
import unicodedata
from html import unescape
from html.parser import HTMLParser

from agent_core.text import one_line

MAX_HTML = 20_000
"""Characters of markup that are looked at for one field."""

_SILENT = frozenset({"script", "style", "template", "noscript", "iframe", "svg"})
_JOINERS = "\u200c\u200d"
# What could pass for our own structure, or act when the text is shown as markdown.
_LOOKALIKES = str.maketrans({"<": "‹", ">": "›", "`": "'"})
_LINK_MARKUP = re.compile(r"(?<=\])(?=[(\[])")


def plain_text(markup: str, limit: int) -> str:
    """Take the text out of HTML and make it harmless: one line of at most ``limit`` characters, without
    tags, invisible characters, code fences or markdown links."""
    parser = _TextCollector()
    try:
        parser.feed(markup[:MAX_HTML])
        parser.close()
        text = "".join(parser.parts)
    except AssertionError:
        # html.parser asserts on some malformed declarations.
        text = unescape(re.sub(r"<[^<>]*>", " ", markup[:MAX_HTML]))
    visible = "".join(
        char for char in text if char in _JOINERS or unicodedata.category(char) not in ("Cf", "Co", "Cn")
    )
    return _LINK_MARKUP.sub(" ", one_line(visible, limit).translate(_LOOKALIKES))


class _TextCollector(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in _SILENT
        if tag not in (
            "a",
            "b",
            "i",
            "em",
            "strong",
            "span",
            "code",
            "sub",
            "sup",
            "u",
            "s",
            "abbr",
            "small",
        ):
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self._silent = max(0, self._silent - (tag in _SILENT))

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data)
