"""Skills that the configuration names."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.config import Settings
from tests.skills.folders import write_skill, write_text

KIND = """
    subagents:
      kinds:
        - name: reader
          description: reads
          prompt: Read.
          skills: [tea, {name}]
"""


def test_skills_that_exist_are_accepted(settings: Callable[..., Settings], tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "tea")
    write_skill(tmp_path / "skills", "coffee", source="public")
    (kind,) = settings(KIND.format(name="coffee")).config.subagents.kinds
    assert kind.skills == ("tea", "coffee")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cofee", 'found "cofee", which is no skill here; did you mean "coffee"?'),
        ("xyz", 'found "xyz", which is no skill here; accepted: coffee, tea'),
        (
            "milk",
            'found "milk", which cannot be used: skills/custom/milk/SKILL.md:1: '
            "the head that begins with --- does not end; put --- on a line behind it",
        ),
    ],
)
def test_others_are_refused_with_line_and_suggestion(
    lines: Callable[..., list[str]], tmp_path: Path, name: str, said: str
) -> None:
    write_skill(tmp_path / "skills", "tea")
    write_skill(tmp_path / "skills", "coffee", source="public")
    write_text(tmp_path / "skills", "milk", "---\nname: milk\n")
    assert lines(KIND.format(name=name)) == [f"config.yaml:8: subagents.kinds[0].skills[1]: {said}"]


def test_where_there_are_no_skills_none_can_be_named(lines: Callable[..., list[str]]) -> None:
    found = lines(KIND.format(name="coffee"))
    assert [line.rpartition("; ")[2] for line in found] == ["there are none"] * 2


def test_a_kind_that_cannot_read_can_have_no_skills(lines: Callable[..., list[str]], tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "tea")
    (line,) = lines(KIND.format(name="tea") + "          tools: [ls]\n")
    assert line.startswith("config.yaml:8: subagents.kinds[0].skills: ")
    assert line.endswith("which needs read_file among the tools")
