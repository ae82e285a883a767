"""Reading the folders of skills: what is broken is told and hides nothing."""

import os
from pathlib import Path

import pytest

from agent_core.skills.loader import MAX_FOLDER_FILES, MAX_SKILL_BYTES, MAX_SKILLS, load_skills
from agent_core.skills.skill import SkillSource
from tests.skills.folders import write_skill, write_text


def _problems(root: Path) -> list[str]:
    return [str(problem) for problem in load_skills(root).problems]


def test_skills_of_both_folders_are_found_and_sorted(tmp_path: Path) -> None:
    write_skill(tmp_path, "zebra", source="public", head="license: MIT\n")
    write_skill(tmp_path, "apple")
    (tmp_path / "custom/.gitkeep").touch()
    (tmp_path / "custom/README.md").write_text("Our skills.")
    found = load_skills(tmp_path)
    assert found.problems == ()
    assert [(skill.name, skill.source, skill.license) for skill in found.skills] == [
        ("apple", SkillSource.CUSTOM, None),
        ("zebra", SkillSource.PUBLIC, "MIT"),
    ]
    assert found.skills[0].location == "/mnt/skills/custom/apple/SKILL.md"


def test_no_folder_is_no_skill(tmp_path: Path) -> None:
    assert (
        load_skills(None).skills == load_skills(tmp_path).skills == load_skills(tmp_path / "x").skills == ()
    )
    assert _problems(tmp_path) == []


def test_broken_skills_are_told_and_hide_no_other(tmp_path: Path) -> None:
    write_skill(tmp_path, "good")
    write_text(tmp_path, "no-head", "Just text.")
    write_text(tmp_path, "colon", "---\nname: colon\ndescription: a: b\n---\nx")
    write_skill(tmp_path, "other", "x").rename(tmp_path / "custom/moved.md")
    (tmp_path / "custom/renamed").mkdir()
    write_skill(tmp_path, "old").rename(tmp_path / "custom/renamed/SKILL.md")
    write_skill(tmp_path, "small").rename(tmp_path / "custom/small/skill.md")
    (tmp_path / "custom/latin").mkdir()
    (tmp_path / "custom/latin/SKILL.md").write_bytes(b"---\nname: latin\ndescription: caf\xe9\n---\nx")
    (tmp_path / "custom/SKILL.md").write_text("x")
    found = load_skills(tmp_path)
    assert found.names == ("good",)
    assert [str(problem) for problem in found.problems] == [
        "skills/custom/SKILL.md: expected in a folder that has the name of the skill",
        "skills/custom/colon/SKILL.md:3: the head is not YAML: put a text that holds a colon in quotes",
        "skills/custom/latin: SKILL.md is not UTF-8 text; save it as UTF-8",
        "skills/custom/no-head/SKILL.md:1: expected the file to begin with a line ---, then name and "
        "description",
        "skills/custom/old: holds no SKILL.md",
        "skills/custom/other: holds no SKILL.md",
        "skills/custom/renamed/SKILL.md: name: found 'old', expected the name of its folder",
        "skills/custom/small: holds no SKILL.md; skill.md is not enough, small and large letters differ",
    ]
    assert [problem.name for problem in found.problems][:2] == [None, "colon"]


def test_a_custom_skill_takes_the_place_of_the_public_one(tmp_path: Path) -> None:
    write_skill(tmp_path, "digest", "Ours.", source="public")
    write_skill(tmp_path, "digest", "Theirs.")
    (skill,) = load_skills(tmp_path).skills
    assert (skill.description, skill.source) == ("Theirs.", SkillSource.CUSTOM)


def test_a_broken_custom_skill_leaves_the_public_one(tmp_path: Path) -> None:
    write_skill(tmp_path, "digest", "Ours.", source="public")
    write_text(tmp_path, "digest", "---\n")
    found = load_skills(tmp_path)
    assert found.skills[0].source is SkillSource.PUBLIC
    assert len(found.problems) == 1


@pytest.mark.parametrize("linked", ["", "SKILL.md", "scripts", "scripts/run.py", "notes.txt"])
def test_nothing_is_reached_over_a_link(tmp_path: Path, linked: str) -> None:
    root = tmp_path / "skills"
    write_skill(root, "good")
    outside = write_skill(tmp_path / "outside", "linked").parent
    (outside / "scripts").mkdir()
    (outside / "scripts/run.py").write_text("print(1)")
    (outside / "notes.txt").write_text("secret")
    if linked:
        write_skill(root, "linked")
        place = root / "custom/linked" / linked
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True)
    else:
        place = root / "custom/linked"
    place.symlink_to(outside / linked)
    found = load_skills(root)
    assert found.names == ("good",)
    (problem,) = found.problems
    assert problem.name == "linked"
    assert "symbolic link" in problem.reason
    assert str(tmp_path) not in str(problem)


def test_a_source_that_is_a_link_is_told(tmp_path: Path) -> None:
    write_skill(tmp_path / "outside", "a")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills/custom").symlink_to(tmp_path / "outside/custom")
    assert _problems(tmp_path / "skills") == ["skills/custom: symbolic links are not followed"]


def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "custom/pipe").mkdir(parents=True)
    os.mkfifo(tmp_path / "custom/pipe/SKILL.md")
    assert _problems(tmp_path) == ["skills/custom/pipe: SKILL.md is neither a file nor a folder"]


def test_a_long_text_is_refused_and_a_text_of_the_limit_is_not(tmp_path: Path) -> None:
    size = write_skill(tmp_path, "most", body="").stat().st_size
    write_skill(tmp_path, "most", body="é" * ((MAX_SKILL_BYTES - size) // 2))
    write_skill(tmp_path, "over", body="x" * MAX_SKILL_BYTES)
    assert load_skills(tmp_path).names == ("most",)
    assert _problems(tmp_path) == [
        "skills/custom/over: SKILL.md is larger than 64 KiB; put parts of it into files beside it"
    ]


def test_folders_with_too_much_in_them_are_refused(tmp_path: Path) -> None:
    many = write_skill(tmp_path, "many").parent
    for number in range(MAX_FOLDER_FILES):
        (many / str(number)).touch()
    with (write_skill(tmp_path, "vast").parent / "data").open("wb") as file:
        file.truncate(101 << 20)
    deep = write_skill(tmp_path, "deep").parent.joinpath(*"a" * 60)
    deep.mkdir(parents=True)
    assert _problems(tmp_path) == [
        "skills/custom/deep: its folders are nested too deeply",
        "skills/custom/many: holds more than 1000 files",
        "skills/custom/vast: is larger than 100 MiB",
    ]


def test_more_skills_than_a_prompt_can_hold_are_left_out(tmp_path: Path) -> None:
    for number in range(MAX_SKILLS + 2):
        write_skill(tmp_path, f"s{number:03}")
    found = load_skills(tmp_path)
    assert len(found.skills) == MAX_SKILLS
    assert str(found.problems[0]).endswith("those from custom/s100 on are left out")


def test_names_of_folders_cannot_forge_lines_of_the_log(tmp_path: Path) -> None:
    (tmp_path / "custom/a\nERROR all is lost\x1b[31m").mkdir(parents=True)
    os.mkdir(os.fsencode(tmp_path / "custom") + b"/\xff")
    lines = _problems(tmp_path)
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)
    assert all(line.encode() for line in lines)
