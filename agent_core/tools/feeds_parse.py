"""From the bytes of a feed to its items. Pure, but slow for large feeds: call it in a thread."""

import calendar
import io
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote, urljoin, urlsplit

from feedparser.api import parse
from feedparser.util import FeedParserDict

from agent_core.tools.feeds_decode import decode, without_prolog
from agent_core.tools.feeds_text import plain_text
from agent_core.tools.feeds_xml import TooComplexError, is_well_formed, mend_ampersands

logger = logging.getLogger(__name__)

MAX_LINK = 1_000
MAX_BROKEN = 30_000
"""Bytes that a feed with broken XML may have."""

_DECLARATION = b'<?xml version="1.0" encoding="utf-8"?>\n'
_TITLE = 200
_SUMMARY = 400
_URL_SAFE = "%/:=&?~#+!$,;@*-._"


class NotAFeedError(Exception):
    """The document is no feed that can be read. The text says what it is instead, for the model."""


@dataclass(frozen=True, slots=True)
class FeedItem:
    """One entry, as plain text on one line each.

    Args:
        title: May be empty.
        link: An http or https URL, percent-encoded; None if there is none.
        date: When it was published or else updated (UTC); None if it does not say.
        summary: A short one; may be empty.
    """

    title: str
    link: str | None
    date: datetime | None
    summary: str


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed: its title and its entries, newest first, undated ones last in their own order."""

    title: str
    items: tuple[FeedItem, ...]


def parse_feed(data: bytes, url: str = "", content_type: str = "") -> Feed:
    """Read RSS, Atom or RDF.

    Args:
        data: The document.
        url: Where it came from; relative links are resolved against it.
        content_type: The ``Content-Type`` header, empty if there is none.

    Raises:
        NotAFeedError: It is empty, something else, or broken beyond reading.
    """
    if not data.strip():
        raise NotAFeedError("the document is empty")
    root = without_prolog(decode(data, content_type))
    if not root:
        raise NotAFeedError("the document is neither RSS nor Atom")
    # Always a stream: feedparser takes bare bytes for the name of a file to open.
    document = io.BytesIO(_sound_xml(root))
    try:
        # What is HTML becomes plain text later on; feedparser need not clean it.
        parsed = parse(
            document,
            response_headers={"content-type": "application/xml; charset=utf-8"},
            sanitize_html=False,
            resolve_relative_uris=False,
        )
    except Exception as error:
        # feedparser trips over some documents (a KeyError for an item inside a link, for one).
        logger.exception("A feed could not be parsed")
        raise NotAFeedError("the feed is broken") from error
    if not parsed.entries:
        _refuse_what_is_no_feed(parsed, root)
    items = [_item(entry, url) for entry in parsed.entries]
    items.sort(key=lambda item: item.date or datetime.min.replace(tzinfo=UTC), reverse=True)
    return Feed(plain_text(str(parsed.feed.get("title", "")), _TITLE), tuple(items))


def _sound_xml(root: str) -> bytes:
    """The document as XML that feedparser reads in time. For XML that is not well-formed it falls back to a
    parser whose time grows with the square of the length, so such a document is mended or must be short."""
    try:
        for text in (root, mend_ampersands(root)):
            document = _DECLARATION + text.encode("utf-8", "replace")
            if is_well_formed(document):
                return document
    except TooComplexError as error:
        raise NotAFeedError("it has too many elements, or they are nested too deep") from error
    if len(document) > MAX_BROKEN:
        _refuse_web_page(root)
        raise NotAFeedError("it is no well-formed XML")
    return document


def _refuse_what_is_no_feed(parsed: Mapping[str, object], root: str) -> None:
    _refuse_web_page(root)
    if not parsed.get("version"):
        raise NotAFeedError("the document is neither RSS nor Atom")
    if parsed.get("bozo"):
        raise NotAFeedError("the feed is broken and no entry could be read")


def _refuse_web_page(root: str) -> None:
    if root[:5].lower() == "<html":
        raise NotAFeedError("it is a web page, not a feed; look for the address of the feed itself")


def _item(entry: FeedParserDict, url: str) -> FeedItem:
    summary = entry.get("summary") or next((part.get("value") for part in entry.get("content", ())), "")
    return FeedItem(
        title=plain_text(str(entry.get("title") or ""), _TITLE),
        link=_safe_link(str(entry.get("link") or ""), url),
        date=_date(entry),
        summary=plain_text(str(summary or ""), _SUMMARY),
    )


def _safe_link(link: str, url: str) -> str | None:
    try:
        absolute = urljoin(url, link.strip())
        parts = urlsplit(absolute)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.netloc or "@" in parts.netloc:
        return None
    quoted = quote(absolute, safe=_URL_SAFE, errors="replace")
    return quoted if len(quoted) <= MAX_LINK else None


def _date(entry: FeedParserDict) -> datetime | None:
    """When an entry says it was published, else updated. A year no feed can mean counts as no date."""
    for key in ("published_parsed", "updated_parsed"):
        # Asked first, because feedparser makes up an update time when it is just read.
        if key not in entry:
            continue
        parsed = entry[key]
        if parsed and 1970 <= parsed[0] < 2100:
            return datetime.fromtimestamp(calendar.timegm(parsed), UTC)
    return None
