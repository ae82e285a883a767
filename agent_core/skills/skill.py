"""What a skill is. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agent_core.paths import SKILLS

SKILL_FILE = "SKILL.md"


class SkillSource(StrEnum):
    """The folder a skill lies in."""

    PUBLIC = "public"
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill that can be used.

    Args:
        name: Its own and its folder's.
        description: One line: what it does and when to use it.
        source: Whether it came with Hart or is the operator's.
        license: As its author put it; None if not said.
        allowed_tools: Names of the tools its author lets it use; None if not said.
        metadata: What else its author says of it.
    """

    name: str
    description: str
    source: SkillSource
    license: str | None = None
    allowed_tools: tuple[str, ...] | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def location(self) -> str:
        """Virtual path of its text."""
        return f"{SKILLS}/{self.source}/{self.name}/{SKILL_FILE}"


@dataclass(frozen=True, slots=True)
class SkillProblem:
    """Why something in the folders of skills is not used.

    Args:
        place: Where, relative to the folder of all skills, such as ``custom/report/SKILL.md``.
        reason: What is wrong and what is accepted, on one line.
        name: Name of the skill that is missing because of this; None if it is about no single skill.
        line: Line of the file, from 1, if known.
    """

    place: str
    reason: str
    name: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        place = self.place if self.line is None else f"{self.place}:{self.line}"
        return f"skills/{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class SkillSet:
    """What was found in the folders.

    Args:
        skills: Those that can be used, sorted by name; no name is there twice.
        problems: What cannot.
    """

    skills: tuple[Skill, ...] = ()
    problems: tuple[SkillProblem, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the skills that can be used."""
        return tuple(skill.name for skill in self.skills)
