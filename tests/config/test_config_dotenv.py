"""The .env file beside the configuration."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.config import ConfigError, Settings, environment
from bot.config.dotenv import parse_dotenv
from tests.config.conftest import Write


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=b", "b"),
        ("  A = b  ", "b"),
        ("export A=b", "b"),
        ("A=", ""),
        ("A=b c", "b c"),
        ("A=b # said", "b"),
        ("A=b#c", "b#c"),
        ("A=#c", ""),
        ("A=b=c", "b=c"),
        ("A='b # c' # said", "b # c"),
        ("A='b\\n$C'", "b\\n$C"),
        ('A="b\\n\\"c\\" \\\\ \\$d" # said', 'b\n"c" \\ $d'),
        ('A=""', ""),
        ("A=it's", "it's"),
        ("A=b\r", "b"),
    ],
)
def test_values_may_be_bare_or_quoted(line: str, value: str) -> None:
    assert parse_dotenv(line) == ({"A": value}, [])


def test_comments_and_empty_lines_are_skipped_and_the_last_line_of_a_name_wins() -> None:
    assert parse_dotenv("# A=x\n\nA=1\n  # more\nA=2\n") == ({"A": "2"}, [])


@pytest.mark.parametrize(
    "line", ["hunter2", "1A=hunter2", "A B=hunter2", "A='hunter2", 'A="hunter2', 'A="x"hunter2']
)
def test_a_line_that_cannot_be_read_is_named_by_number_and_not_shown(line: str) -> None:
    variables, problems = parse_dotenv(f"X=1\n{line}\n")
    assert variables == {"X": "1"}
    assert [problem.line for problem in problems] == [2]
    assert "hunter2" not in str(problems[0])


@given(st.text(st.characters(exclude_characters="'\n", codec="utf-8")))
def test_single_quotes_keep_any_text_of_one_line(text: str) -> None:
    assert parse_dotenv(f"A='{text}'") == ({"A": text}, [])


@given(st.text())
def test_any_text_is_read_or_refused_line_by_line(text: str) -> None:
    variables, problems = parse_dotenv(text)
    assert len(variables) + len(problems) <= text.count("\n") + 1


def test_the_files_may_refer_to_it(settings: Callable[..., Settings]) -> None:
    found = settings("agent: {instructions: Be $MOOD}", env="MOOD='kind'\n")
    assert found.config.agent.instructions == "Be kind"


def test_the_real_environment_wins(settings: Callable[..., Settings]) -> None:
    found = settings("agent: {instructions: $MOOD}", env="MOOD=kind\n", MOOD="brief")
    assert found.config.agent.instructions == "brief"


def test_its_problems_come_with_those_of_the_other_files(lines: Callable[..., list[str]]) -> None:
    assert lines("agnt: {}", env="A=1\nnonsense\n") == [
        ".env:2: expected NAME=VALUE",
        'config.yaml:2: agnt: unknown key; did you mean "agent"?',
    ]


def test_others_can_ask_for_the_environment_with_it(write: Write) -> None:
    directory = write(env="A=file\nB=file\n")
    assert environment(directory, {"B": "real"}) == {"A": "file", "B": "real"}
    (directory / ".env").write_text("nonsense")
    with pytest.raises(ConfigError, match=r"\.env:1: expected NAME=VALUE"):
        environment(directory, {})
