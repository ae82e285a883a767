"""What kinds of subagents there are, and how many may work. Pure."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Configuration reads this module, and must not import an agent for it.
    from langchain_core.tools import BaseTool

from agent_core.skills.skill import Skill

TASK_TOOL = "task"

_READ_TOOL = "read_file"

GENERAL_PURPOSE = "general-purpose"
BASH = "bash"

SECONDS = 1_800.0
"""How long a built-in subagent may work."""

CUSTOM_SECONDS = 900.0
"""How long a subagent of the operator's may work, unless its definition says otherwise."""

_SANDBOX_TOOLS = ("bash", "ls", "glob", "grep", "read_file", "write_file", "str_replace")


class SubagentConfigError(ValueError):
    """A subagent is defined in a way that cannot work. One line, for the operator."""


@dataclass(frozen=True, slots=True)
class SubagentSpec:
    """One kind of subagent.

    Args:
        name: What the lead agent calls it.
        description: Tells the lead agent what it is for.
        prompt: What the subagent is told about its work, beside what all are told.
        tools: Names of the tools it may use; None for all the lead agent has but ``task``.
        model: Name of the model; None for the lead agent's.
        max_turns: How often it may ask its model; then it has to sum up.
        seconds: How long it may work.
        skills: Names of the skills it is told of; None for all, if it can read files.
    """

    name: str
    description: str
    prompt: str = ""
    tools: tuple[str, ...] | None = None
    model: str | None = None
    max_turns: int = 150
    seconds: float = CUSTOM_SECONDS
    skills: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SubagentSettings:
    """What is configured about subagents.

    Args:
        at_once: How many may be begun in one response of the lead agent.
        per_run: How many in one run.
        custom: Kinds beside the built-in ones; one with the name of a built-in one replaces it.
    """

    at_once: int = 3
    per_run: int = 6
    custom: tuple[SubagentSpec, ...] = ()


_GENERAL_PURPOSE = SubagentSpec(
    name=GENERAL_PURPOSE,
    description="has all tools but this one; for research and for work of many steps",
    max_turns=150,
    seconds=SECONDS,
)
_BASH = SubagentSpec(
    name=BASH,
    description="runs commands and works on files; for builds, scripts, conversions and long output",
    prompt="Your work is done with commands and files. Report what the commands showed, not their output.",
    tools=_SANDBOX_TOOLS,
    max_turns=60,
    seconds=SECONDS,
)


def subagent_specs(settings: SubagentSettings, tools: Sequence[str]) -> dict[str, SubagentSpec]:
    """Give the kinds there are, by name, in the order the lead agent is told of them.

    ``bash`` is among them only where there is a tool of that name.

    Args:
        settings: The operator's.
        tools: Names of all that the lead agent has.

    Raises:
        SubagentConfigError: A custom one is there twice, or names a tool that does not exist.
    """
    specs = {GENERAL_PURPOSE: _GENERAL_PURPOSE}
    if BASH in tools:
        specs[BASH] = _BASH
    seen: set[str] = set()
    for spec in settings.custom:
        if spec.name in seen:
            raise SubagentConfigError(f"{spec.name!r} is there twice")
        seen.add(spec.name)
        for name in spec.tools or ():
            if name == TASK_TOOL:
                raise SubagentConfigError(f"{spec.name}: a subagent cannot have the tool {TASK_TOOL!r}")
            if name not in tools:
                raise SubagentConfigError(f"{spec.name}: there is no tool {name!r}{_suggest(name, tools)}")
        specs[spec.name] = spec
    return specs


def tools_of(spec: SubagentSpec, tools: "Sequence[BaseTool]") -> "list[BaseTool]":
    """Give the tools of a kind, in the lead agent's order."""
    return [
        tool for tool in tools if tool.name != TASK_TOOL and (spec.tools is None or tool.name in spec.tools)
    ]


def check_skills(spec: SubagentSpec, known: Sequence[str]) -> None:
    """See that a kind can use the skills it names.

    Raises:
        SubagentConfigError: There is no such skill, or the kind has no tool to read it.
    """
    if spec.skills and not _can_read(spec):
        raise SubagentConfigError(f"{spec.name}: skills need the tool {_READ_TOOL!r}; add it to tools")
    for name in spec.skills or ():
        if name not in known:
            raise SubagentConfigError(f"{spec.name}: there is no skill {name!r}{_suggest(name, known)}")


def skills_of(spec: SubagentSpec, skills: Sequence[Skill]) -> list[Skill]:
    """Give the skills of a kind, in the lead agent's order."""
    if not _can_read(spec):
        return []
    return [skill for skill in skills if spec.skills is None or skill.name in spec.skills]


def _can_read(spec: SubagentSpec) -> bool:
    return spec.tools is None or _READ_TOOL in spec.tools


def _suggest(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(known) or 'none'}"
