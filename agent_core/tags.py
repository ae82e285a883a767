"""The tags only the system may write, and how they are taken out of what others wrote. Pure."""

import re

CONTEXT = "context"
"""Facts about a message, such as its files."""

REMINDER = "system-reminder"
"""What the system tells the model in between, such as the date."""

# People have no reason to write these either; models know them from other systems.
_ALSO_FOR_PEOPLE = ("system", "memory", "skill", "skills", "uploaded_files", "instructions")

_OPEN = "[<＜‹]"
# Blanks, and characters that cannot be seen.
_GAP = r"[\s/／\u00ad\u200b-\u200f\u2060-\u2064\ufeff]*"


def _tags(*names: str) -> re.Pattern[str]:
    alternatives = "|".join(re.escape(name) for name in names)
    return re.compile(rf"{_OPEN}(?={_GAP}(?:{alternatives})(?![\w-]))", re.IGNORECASE)


_IN_TOOL_RESULTS = _tags(CONTEXT, REMINDER)
_IN_PEOPLES_TEXT = _tags(CONTEXT, REMINDER, *_ALSO_FOR_PEOPLE)
# Marks between the messages of a chat template; some servers read them in contents too.
_CONTROL_TOKEN = re.compile(r"[<＜](?=[|｜][\w▁ -]{1,40}[|｜][>＞])")


def tagged(tag: str, text: str) -> str:
    """Put text of ours between tags."""
    return f"<{tag}>\n{text}\n</{tag}>"


def untagged(text: str) -> str:
    """Take from what a person wrote the power to look like words of the system."""
    return _CONTROL_TOKEN.sub("(", _IN_PEOPLES_TEXT.sub("(", text))


def untagged_result(text: str) -> str:
    """The same for a tool's result, which keeps all tags but our own: it may be a page or a program."""
    return _CONTROL_TOKEN.sub("(", _IN_TOOL_RESULTS.sub("(", text))
