"""What a SKILL.md must look like, and what it may not do to its reader."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.skills.frontmatter import Frontmatter, SkillFormatError, read_frontmatter


def _read(*head: str, body: str = "Do it.") -> Frontmatter:
    return read_frontmatter("\n".join(["---", *head, "---", body]))


def test_all_fields_are_read() -> None:
    found = _read(
        "name: sales-report",
        "description: >-",
        "  Make the report.",
        "  Use it on Mondays.",
        "license: MIT",
        "allowed-tools: read_file, bash write_file",
        "metadata:",
        "  author: ada",
        "  version: 1.10",
        "argument-hint: another tool's key",
    )
    assert found == Frontmatter(
        "sales-report",
        "Make the report. Use it on Mondays.",
        "MIT",
        ("read_file", "bash", "write_file"),
        {"author": "ada", "version": "1.10"},
    )


def test_tools_may_be_a_list_and_an_empty_one_allows_none() -> None:
    head = ("name: a", "description: b")
    assert _read(*head, "allowed-tools: [bash, ls]").allowed_tools == ("bash", "ls")
    assert _read(*head, "allowed-tools: []").allowed_tools == ()
    assert _read(*head, "allowed-tools:").allowed_tools == ()
    assert _read(*head).allowed_tools is None


def test_words_that_yaml_takes_for_values_stay_words() -> None:
    found = _read("name: on", "description: 2026-01-01")
    assert (found.name, found.description) == ("on", "2026-01-01")


def test_windows_line_ends_are_accepted() -> None:
    assert read_frontmatter("---\r\nname: a\r\ndescription: b\r\n---\r\nDo it.\r\n").name == "a"


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ("", "begin with a line ---", 1),
        ("Do it.", "begin with a line ---", 1),
        ("---\nname: a\n", "does not end", 1),
        ("---\nname: a\ndescription: b\n---\n \n", "behind the head", 4),
        ("---\n- a\n---\nx", "lines of key: value", 2),
        ("---\n---\nx", "lines of key: value", 2),
        ("---\ndescription: b\n---\nx", "name: is missing", None),
        ("---\nname: a\n---\nx", "description: is missing", None),
        ("---\nname: a\ndescription: '  '\n---\nx", "description: is missing", 3),
        ("---\nname: a\ndescription:\n---\nx", "description: is missing", 3),
        ("---\nname: a\ndescription: Use when: asked\n---\nx", "quotes", 3),
        ("---\nname: a\nname: b\ndescription: c\n---\nx", "there twice", 3),
        ("---\nname: a\ndescription: [b]\n---\nx", "description: expected text", 3),
        ("---\nname: a\ndescription: b\nallowed_tools: bash\n---\nx", "did you mean 'allowed-tools'", 4),
        ("---\nname: a\nDescription: b\n---\nx", "did you mean 'description'", 3),
        ("---\nname: a\ndescription: b\nmetadata: text\n---\nx", "metadata: expected lines", 4),
        ("---\nname: a\ndescription: b\nmetadata: {a: {b: c}}\n---\nx", "metadata.a: expected text", 4),
        ("---\nname: a\ndescription: \x01\n---\nx", "does not allow", None),
        ("---\nname: &a a\ndescription: *b\n---\nx", "not YAML", 3),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, reason: str, line: int | None) -> None:
    with pytest.raises(SkillFormatError) as caught:
        read_frontmatter(text)
    assert reason in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize("name", ["Report", "-a", "a-", "a--b", "a_b", "ä", "a/b", "..", "a" * 65, '"a\\nb"'])
def test_names_are_small_letters_digits_and_single_dashes(name: str) -> None:
    with pytest.raises(SkillFormatError, match="name: "):
        _read(f"name: {name}", "description: b")


def test_the_longest_name_and_description_are_accepted() -> None:
    found = _read(f"name: {'a' * 64}", f"description: {'b' * 1_024}")
    assert (len(found.name), len(found.description)) == (64, 1_024)
    with pytest.raises(SkillFormatError, match="1025 characters, expected up to 1024"):
        _read("name: a", f"description: {'b' * 1_025}")


@pytest.mark.parametrize(
    "line",
    [
        "metadata: !!python/object/apply:os.system [id]",
        "description: !!python/name:os.system ''",
        "license: !custom x",
        "metadata: {<<: {a: b}}",
    ],
)
def test_tags_and_merge_keys_are_refused(line: str) -> None:
    with pytest.raises(SkillFormatError):
        _read("name: a", *([] if line.startswith("description") else ["description: b"]), line)


def test_aliases_of_aliases_are_refused_without_being_followed() -> None:
    bomb = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 60)]
    assert _read("name: a", "description: b", *bomb).metadata == {}
    with pytest.raises(SkillFormatError, match="metadata"):
        _read("name: a", "description: b", *bomb, "metadata: {x: *a59}")


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(SkillFormatError, match="nested too deeply"):
        _read("name: a", "description: b", f"x: {'[' * 7_000}")


def test_a_head_that_is_too_long_is_refused_unparsed() -> None:
    with pytest.raises(SkillFormatError, match="expected up to 16000"):
        _read("name: a", "description: b", *["# comment"] * 2_000)


@given(st.text(max_size=200))
def test_any_head_is_read_or_refused(head: str) -> None:
    found = None
    with contextlib.suppress(SkillFormatError):
        found = _read("name: a", head)
    assert found is None or "\n" not in found.description
