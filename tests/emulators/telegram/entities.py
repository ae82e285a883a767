"""What Telegram takes as formatting. Where its own rules are not known, stricter than it."""

import re
from typing import Any
from urllib.parse import urlsplit

MOST = 100
KINDS = frozenset(
    {"bold", "italic", "underline", "strikethrough", "spoiler", "code", "pre", "text_link"}
    | {"blockquote", "expandable_blockquote"}
)


class FormatError(Exception):
    """Why a formatting is refused."""


def units(text: str) -> int:
    """Length in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def check_entities(entities: Any, text: str) -> None:
    """Refuse what Telegram would refuse, and what it would silently ignore.

    Raises:
        FormatError: Something is refused.
    """
    if not isinstance(entities, list) or len(entities) > MOST:
        raise FormatError("expected an array of at most 100")
    data = text.encode("utf-16-le", "surrogatepass")
    for entity in entities:
        match entity:
            case {"type": str(kind), "offset": int(offset), "length": int(length)} if kind in KINDS:
                pass
            case _:
                raise FormatError("unsupported entity")
        if offset < 0 or length <= 0 or 2 * (offset + length) > len(data):
            raise FormatError("entity is out of range")
        if _splits_pair(data, offset) or _splits_pair(data, offset + length):
            raise FormatError("entity begins or ends inside a character")
        if kind == "text_link":
            _check_url(entity.get("url"))
        elif "url" in entity:
            raise FormatError("unexpected url")
        if not isinstance(entity.get("language", ""), str) or ("language" in entity and kind != "pre"):
            raise FormatError("unexpected language")


def _splits_pair(data: bytes, place: int) -> bool:
    return 0xDC <= int.from_bytes(data[2 * place + 1 : 2 * place + 2]) <= 0xDF


def _check_url(url: Any) -> None:
    """A host needs a dot, as in TDLib's link manager."""
    if not isinstance(url, str) or not url:
        raise FormatError("url is missing")
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        raise FormatError("wrong HTTP URL") from None
    if parts.scheme not in ("http", "https", "tg", "ton"):
        raise FormatError("unsupported URL protocol")
    if re.search(r"[\x00-\x20\\]", url) or (parts.scheme.startswith("http") and "." not in host.strip(".")):
        raise FormatError("wrong HTTP URL")
