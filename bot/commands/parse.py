"""Telling a command from a message. Pure."""

import re
from dataclasses import dataclass

_COMMAND = re.compile(r"/([A-Za-z][A-Za-z0-9_-]{0,31})(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command as it was typed: its name in lower case, and the rest of the text."""

    name: str
    argument: str


def parse_command(text: str) -> Invocation | None:
    """The command a text is, or None for a message.

    A command starts with a slash at the very beginning, then a word. ``/etc/hosts`` or ``/ 2`` are none.
    """
    match = _COMMAND.fullmatch(text.rstrip())
    if match is None:
        return None
    return Invocation(match[1].lower(), (match[2] or "").strip())
