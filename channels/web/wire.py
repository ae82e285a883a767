"""The JSON of the chat API, written by the server and read by the console client."""

import json
from typing import Any

from pydantic import TypeAdapter, ValidationError

from channels.feed import FeedEntry, FeedPage
from channels.views import RunView

_ENTRY = TypeAdapter(FeedEntry)
_PAGE = TypeAdapter(FeedPage)
_VIEW = TypeAdapter(RunView)


class WireError(ValueError):
    """What came is not what this version of the API says."""


def page_json(page: FeedPage) -> dict[str, Any]:
    """A page as JSON types."""
    plain: dict[str, Any] = _PAGE.dump_python(page, mode="json")
    return plain


def parse_page(raw: bytes | str) -> FeedPage:
    """Undo :func:`page_json`.

    Raises:
        WireError: It is not a page.
    """
    try:
        return _PAGE.validate_json(raw)
    except ValidationError as error:
        raise WireError("The server sent a page this version does not understand.") from error


def parse_entry(raw: str) -> FeedEntry:
    """The data of an ``entry`` event.

    Raises:
        WireError: It is not an entry.
    """
    try:
        return _ENTRY.validate_json(raw)
    except ValidationError as error:
        raise WireError("The server sent an entry this version does not understand.") from error


def parse_view(raw: str) -> RunView:
    """The data of a ``progress`` event.

    Raises:
        WireError: It is not a view.
    """
    try:
        return _VIEW.validate_json(raw)
    except ValidationError as error:
        raise WireError("The server sent progress this version does not understand.") from error


def entry_event(entry: FeedEntry, cursor: str | None) -> bytes:
    """One ``entry`` server-sent event.

    Args:
        entry: What was said.
        cursor: Where to resume once this event was received; None in the middle of a page.
    """
    return _event("entry", _ENTRY.dump_python(entry, mode="json"), cursor)


def progress_event(view: RunView) -> bytes:
    """One ``progress`` server-sent event. It has no id: progress is not resumed."""
    return _event("progress", _VIEW.dump_python(view, mode="json"), None)


KEEP_ALIVE = b": keep-alive\n\n"
"""A server-sent comment, so that both ends and what is between them see a live connection."""


def _event(name: str, data: object, cursor: str | None) -> bytes:
    # ASCII JSON has no line break of any kind inside, whatever a reader counts as one.
    lines = [f"event: {name}", f"data: {json.dumps(data, ensure_ascii=True, separators=(',', ':'))}"]
    if cursor is not None:
        lines.insert(0, f"id: {cursor}")
    return ("\n".join(lines) + "\n\n").encode()
