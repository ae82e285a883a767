"""How the stand-in compares things: a subagent for each, so that subagents can be tried. Pure."""

import re
from collections.abc import Mapping, Sequence

_COMPARE = re.compile(
    r"\bcompare\s+(?P<things>.+?),?\s+(?:with|using|by)\s+(?:\w+\s+)?(?:helpers|subagents)\b",
    re.IGNORECASE | re.DOTALL,
)
_BETWEEN = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+|\s+with\s+", re.IGNORECASE)
_UNSAFE = re.compile(r"[^a-z0-9]+")
_MOST = 3
_LENGTH = 40


def things_to_compare(asked: str) -> tuple[str, ...]:
    """Give what somebody wants compared by helpers; nothing when that is not asked."""
    found = _COMPARE.search(asked)
    if found is None:
        return ()
    things = [thing.strip(" .:;!?\"'`\n")[:_LENGTH] for thing in _BETWEEN.split(found["things"])]
    distinct = tuple(dict.fromkeys(thing for thing in things if thing))
    return distinct[:_MOST] if len(distinct) > 1 else ()


def task_about(thing: str, number: int) -> Mapping[str, object]:
    """Give the arguments of the task about one thing."""
    name = _UNSAFE.sub("-", thing.lower()).strip("-") or f"thing-{number}"
    return {
        "description": f"Look at {thing}",
        "prompt": f"Write a file {name}.md with what speaks for {thing}, what against it, and what it costs.",
        "subagent_type": "general-purpose",
    }


def comparison(things: Sequence[str], reports: Sequence[str]) -> str:
    """Put the reports together."""
    # A stand-in ends its first answer with a paragraph about itself.
    said = [report.partition("\n\n")[0] for report in reports]
    lines = [f"- **{thing}**: {words}" for thing, words in zip(things, said, strict=True)]
    return "\n".join([f"{len(things)} helpers worked on this side by side:", "", *lines])
