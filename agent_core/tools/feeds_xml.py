"""Makes sure that XML is well-formed and flat before a feed parser works on it. Pure."""

import re
from html.entities import html5
from xml.parsers import expat

MAX_DEPTH = 100
"""Elements within elements. Feeds have about ten."""

MAX_ELEMENTS = 20_000
"""Elements in all: a thousand items of twenty. feedparser needs about a tenth of a millisecond for each."""

_LOOSE_AMPERSAND = re.compile(
    r"&(?!#[0-9]{1,7};|#x[0-9a-fA-F]{1,6};|(?:amp|lt|gt|quot|apos);)([A-Za-z0-9]{2,31};)?"
)


class TooComplexError(Exception):
    """The document has more elements, or more deeply nested ones, than any feed."""


def is_well_formed(document: bytes) -> bool:
    """Whether a document without DOCTYPE is well-formed XML with namespaces.

    Raises:
        TooComplexError: It has more than :data:`MAX_ELEMENTS`, or more than :data:`MAX_DEPTH` within another.
    """
    depth = count = 0

    def enter(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth, count
        depth += 1
        count += 1
        if depth > MAX_DEPTH or count > MAX_ELEMENTS:
            raise TooComplexError

    def leave(name: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate("utf-8", " ")
    parser.StartElementHandler = enter
    parser.EndElementHandler = leave
    try:
        parser.Parse(document, True)
    except expat.ExpatError:
        return False
    return True


def mend_ampersands(text: str) -> str:
    """Put right what most broken feeds have wrong: names of characters that only HTML knows, and bare ``&``.
    CDATA sections stay as they are."""
    mended = []
    for index, part in enumerate(text.split("<![CDATA[")):
        if index == 0:
            mended.append(_LOOSE_AMPERSAND.sub(_mended, part))
            continue
        section, end, after = part.partition("]]>")
        mended.append(f"<![CDATA[{section}{end}{_LOOSE_AMPERSAND.sub(_mended, after)}")
    return "".join(mended)


def _mended(match: re.Match[str]) -> str:
    name = match[1] or ""
    return html5.get(name) or f"&amp;{name}"
