"""When a heartbeat needs no model. Pure."""

import re

_CHECKBOX = re.compile(r"[-*+]\s*(?:\[[ xX]?\])?\s*")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)

PROMPT = (
    "This is a heartbeat. Below is the list of what to look after. Look into it, and report only what is new "
    "and worth somebody's attention; do not repeat what you reported before."
)
"""What the model is asked, above the list."""


def is_empty(text: str) -> bool:
    """Whether a HEARTBEAT.md has nothing to do in it: only headings, comments, empty items and done ones."""
    return not any(_is_work(line.strip()) for line in _COMMENT.sub("", text).splitlines())


def _is_work(line: str) -> bool:
    if not line or line.startswith("#") or re.fullmatch(r"[-*_=`]{3,}\w*", line):
        return False
    if re.match(r"[-*+]\s*\[[xX]\]", line):
        return False
    return bool(_CHECKBOX.sub("", line, count=1).strip()) if _CHECKBOX.match(line) else True
