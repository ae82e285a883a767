"""Who is mentioned in a text, and what is left of it without our name. Pure.

Content has placeholders (``@_user_1``) in the place of names; who is meant stands beside it. Everyone
is ``@_all``, which may have no entry.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from channels.feishu.events import Mention

_PLACEHOLDER = re.compile(r"@_user_[0-9]{1,6}(?![0-9])|@_all(?![A-Za-z0-9_])")
_OURS = "\x00"
_LEADING = re.compile(rf"^[\s,:，：]*(?:{_OURS}[\s,:，：]*)+")
_MIDDLE = re.compile(rf"(?<=\s){_OURS}+\s|{_OURS}+")
_NAME_LIMIT = 64


@dataclass(frozen=True, slots=True)
class ReadText:
    """What a text says to us.

    Args:
        text: With names in the place of placeholders, and without ours.
        mentions_us: True when we are mentioned.
        mentions_all: True when everyone is.
    """

    text: str
    mentions_us: bool
    mentions_all: bool


def read_text(text: str, mentions: Sequence[Mention], our_open_id: str) -> ReadText:
    """Put names in the place of placeholders, and take ours out."""
    by_key: Mapping[str, Mention] = {mention.key: mention for mention in mentions}
    found: set[str] = set()

    def name(match: re.Match[str]) -> str:
        key = match[0]
        if key == "@_all":
            found.add("all")
            return "@all"
        mention = by_key.get(key)
        if mention is None:
            return key
        if is_all(mention):
            found.add("all")
            return "@all"
        if mention.id is not None and mention.id.open_id == our_open_id:
            found.add("us")
            return _OURS
        return f"@{shown_name(mention.name) or 'someone'}"

    named = _PLACEHOLDER.sub(name, text.replace(_OURS, "\ufffd"))
    kept = _MIDDLE.sub("", _LEADING.sub("", named)).strip()
    return ReadText(kept, "us" in found, "all" in found or any(is_all(one) for one in mentions))


def is_all(mention: Mention) -> bool:
    """True for the mention of everyone."""
    return mention.key == "@_all" or (mention.id is not None and mention.id.user_id == "all")


def shown_name(name: str) -> str:
    """A name people chose, on one line and not too long."""
    shown = "".join(char if char.isprintable() else " " for char in name[: 4 * _NAME_LIMIT])
    return " ".join(shown.split())[:_NAME_LIMIT]
