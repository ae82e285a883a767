"""From the text of an event to what a person reads, and whether it names us. Pure.

Slack escapes ``&``, ``<`` and ``>`` and writes links, channels and mentions as ``<...>`` (Slack docs,
"Formatting message text").
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TOKEN = re.compile(r"<([^<>]{1,4000})>")
_MENTION = re.compile(r"<@([UW][A-Z0-9]{1,30})(?:\|[^<>]*)?>")
_SEPARATORS = " \t\r\n,:"
_COMMAND = re.compile(r"[!/](?=[A-Za-z][A-Za-z0-9_-]{0,31}(?:\s|$))")
_MOST_MENTIONS = 50


@dataclass(frozen=True, slots=True)
class ReadText:
    """What a text says to us.

    Args:
        text: The text without mentions of us, as a person reads it.
        addressed: True when it mentions us.
    """

    text: str
    addressed: bool = False


def mentioned(text: str) -> frozenset[str]:
    """Ids of the people a text mentions; of very many, some."""
    found = (match[1] for match in _MENTION.finditer(text))
    return frozenset(user for user, _ in zip(found, range(_MOST_MENTIONS), strict=False))


def read_text(text: str, bot_user_id: str, names: Mapping[str, str]) -> ReadText:
    """Resolve all tokens of a text.

    Args:
        text: As the event has it.
        bot_user_id: Who we are.
        names: Names of people by id; a missing one is shown by its id.
    """
    parts = [""]
    end = 0
    for match in _TOKEN.finditer(text):
        parts[-1] += _unescape(text[end : match.start()])
        end = match.end()
        mention = _MENTION.fullmatch(match[0])
        if mention and mention[1] == bot_user_id:
            parts.append("")
        else:
            parts[-1] += _unescape(_plain(match[1], names))
    parts[-1] += _unescape(text[end:])
    return ReadText(_as_command(_join(parts)), len(parts) > 1)


def _plain(token: str, names: Mapping[str, str]) -> str:
    """What a token stands for."""
    target, _, label = token.partition("|")
    match target[:1]:
        case "@":
            return f"@{names.get(target[1:]) or label.lstrip('@') or target[1:]}"
        case "#":
            return f"#{label or target[1:]}"
        case "!":
            return _special(target[1:], label)
    if re.match(r"[a-z][a-z0-9+.-]*:", target, re.IGNORECASE) is None:
        # No token of Slack's: it is shown as it stands.
        return f"<{token}>"
    if not label or label == target or f"{label}/" == target:
        return target
    scheme, _, rest = target.partition(":")
    if scheme in ("mailto", "tel") and rest == label:
        return label
    if rest.strip("/") == label.strip("/"):
        return target
    return f"{label} ({target})"


def _special(target: str, label: str) -> str:
    """``<!here>``, ``<!subteam^S1|@ops>``, ``<!date^1^{date}|1 May>``."""
    kind, _, rest = target.partition("^")
    match kind:
        case "subteam":
            return f"@{label.lstrip('@') or rest}"
        case "here" | "channel" | "everyone":
            return f"@{kind}"
    return label or target


def _unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _join(parts: list[str]) -> str:
    """The parts without the blanks and commas that mentions of us leave behind."""
    kept, *rest = parts
    for part in rest:
        if not kept.strip():
            kept = part.lstrip(_SEPARATORS)
        elif kept[-1].isspace() and part[:1].isspace():
            kept += part[1:]
        else:
            kept += part
    return kept.strip()


def _as_command(text: str) -> str:
    """``!new`` becomes ``/new``: Slack's own client keeps what begins with a slash to itself."""
    return _COMMAND.sub("/", text, count=1) if _COMMAND.match(text) else text
