"""The marker by which a run says that nobody needs to hear of it. Pure."""

import re

SILENT = "[SILENT]"
"""What the model is told to answer when there is nothing to report."""

MOST_REST = 300
"""Characters that may stand beside the marker; with more, somebody had something to say."""

_MARKER = re.compile(
    r"[\s*_`~\"'“”‘’>#.!-]*"
    r"(?:\[\s*(?:SILENT|NO[ _-]?REPLY|HEARTBEAT[ _-]?OK)\s*\]|\b(?:NO_REPLY|HEARTBEAT[_-]?OK)\b)"
    r"[\s*_`~\"'“”‘’.!-]*",
    re.IGNORECASE,
)


def is_silent(answer: str) -> bool:
    """Whether an answer asks not to be posted: it begins or ends with the marker, in whatever spelling, and
    little else is said."""
    return said_beside(answer) is None


def said_beside(answer: str) -> str | None:
    """The answer without its marker; None when the marker makes it one for nobody."""
    text = answer.strip()
    marked = False
    if (first := _MARKER.match(text)) is not None:
        text, marked = text[first.end() :], True
    for last in _MARKER.finditer(text):
        if last.end() == len(text):
            text, marked = text[: last.start()], True
    text = text.strip()
    return None if marked and len(text) <= MOST_REST else text
