"""Telling that a message asks for a skill by name. Pure."""

import re
from collections.abc import Collection

_ASKED = re.compile(r"/([a-z0-9-]{1,64})(?=\s|\Z)")


def asked_skill(text: str, names: Collection[str]) -> str | None:
    """Give the name of the skill that a message asks for as ``/name task``, or None.

    The slash must be its very first character, and the name written exactly as the skill has it, with a
    blank or nothing behind it.
    """
    found = _ASKED.match(text)
    return found[1] if found is not None and found[1] in names else None
