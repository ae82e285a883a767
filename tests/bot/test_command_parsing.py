"""What is a command and what is a message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands.parse import Invocation, parse_command


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/new", Invocation("new", "")),
        ("/NEW  ", Invocation("new", "")),
        ("/models gpt-4.1-mini", Invocation("models", "gpt-4.1-mini")),
        ("/new first\nsecond", Invocation("new", "first\nsecond")),
        ("/stop\n", Invocation("stop", "")),
    ],
)
def test_a_slash_and_a_word_at_the_start_is_a_command(text, expected) -> None:
    assert parse_command(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "new", " /new", "see /new", "/", "/ new", "/etc/hosts", "/2", "//new", "/new:", "/" + "x" * 40],
)
def test_anything_else_is_a_message(text) -> None:
    assert parse_command(text) is None


@given(st.text(max_size=200))
def test_no_text_breaks_the_parser(text) -> None:
    invocation = parse_command(text)
    assert invocation is None or text.startswith("/")
