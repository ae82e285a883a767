"""Small decisions, each a pure function."""

from datetime import UTC, datetime
from typing import Any

import pytest

from agent_core.labels import label
from agent_core.middlewares.llm_error_handling import RetryPolicy
from agent_core.middlewares.tool_error_handling import error_text
from agent_core.models.faults import parse_retry_after
from agent_core.models.plain_requests import plain
from agent_core.prompt import system_prompt

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("milliseconds", "value", "seconds"),
    [
        (None, "7", 7.0),
        ("1500", "2", 1.5),
        (None, "Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
        (None, "Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        (None, "soon", None),
        (None, "-3", None),
        (None, "nan", None),
        (None, "inf", None),
        (None, None, None),
        ("x", "4", 4.0),
    ],
)
def test_retry_after_is_read_in_all_its_forms(
    milliseconds: str | None, value: str | None, seconds: float | None
) -> None:
    assert parse_retry_after(milliseconds, value, NOON) == seconds


def test_pauses_double_up_to_a_limit_and_never_undercut_what_was_asked() -> None:
    policy = RetryPolicy(retries=8, first_seconds=1, max_seconds=30)
    assert [policy.pause(tried, None, 1.0) for tried in range(1, 9)] == [1, 2, 4, 8, 16, 30, 30, 30]
    assert policy.pause(1, None, 0.0) == 0.5
    assert policy.pause(9, None, 1.0) is None
    asked = policy.pause(1, 20, 0.0)
    assert asked is not None
    assert asked >= 20
    assert policy.pause(1, 91, 0.0) is None


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("write_file", {"path": "/mnt/user-data/outputs/notes.md"}, "Writing notes.md"),
        ("read_file", {"path": "/mnt/user-data/uploads/a b.txt"}, "Reading a b.txt"),
        ("present_files", {"paths": ["/x/a.md"]}, "Sharing a.md"),
        ("present_files", {"paths": ["a", "b"]}, "Sharing 2 files"),
        ("read_feed", {"url": "https://example.org/feed"}, "Reading the feed https://example.org/feed"),
        ("str_replace", {"path": "/mnt/user-data/workspace/a.py"}, "Editing a.py"),
        ("ls", {"path": "/mnt/user-data/workspace/"}, "Looking into workspace"),
        ("grep", {"pattern": "x"}, "Searching files"),
        ("bash", {"command": "cd build && API_KEY=s3cret /usr/bin/make -j2 all"}, "Running make"),
        ("bash", {"command": '""'}, "Running a command"),
        ("bash", {"command": 7}, "Running a command"),
        ("write_file", {"path": 7}, "Writing a file"),
        ("write_file", {"path": "/x/a\x1b[31m\nb\u202e"}, "Writing a [31m b"),
        ("other", {}, "Using other"),
    ],
)
def test_a_call_is_told_in_plain_words(tool: str, arguments: dict[str, Any], text: str) -> None:
    assert label(tool, arguments) == text


def test_a_label_is_short() -> None:
    assert len(label("read_feed", {"url": "https://example.org/" + "x" * 500})) <= 80


def test_what_an_unforeseen_error_says_is_not_told() -> None:
    assert error_text("t", OSError("/srv/private/key leaked")) == "t failed (OSError)"
    assert error_text("t", TimeoutError()) == "t took too long and was stopped"


def test_the_system_prompt_is_the_same_bytes_every_time_and_ends_with_the_operators_words() -> None:
    assert system_prompt() == system_prompt("  ")
    assert system_prompt("Be brief.").startswith(system_prompt())
    assert system_prompt("Be brief.").endswith("Be brief.")


def test_moving_the_long_parts_of_a_request_loses_nothing() -> None:
    payload = {"model": "m", "messages": [1], "tools": [2], "extra_body": {"x": 3}, "stream": True}
    moved = plain(payload)
    body = {**{k: v for k, v in moved.items() if k != "extra_body"}, **moved["extra_body"]}
    assert body == {"model": "m", "messages": [1], "tools": [2], "x": 3, "stream": True}
