"""Every problem of a file is named by file, line and key, all at once."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.config import ConfigError, load
from bot.errors import OperatorError

Lines = Callable[..., list[str]]


EMPTY = 'config.yaml: is empty; write "version: 1" into it, or remove the file to use the defaults'
TAG = "config.yaml:2: agent: a tag (!name) is not accepted here"
UNSET = "the environment variable GONE is not set; set it, or write ${GONE:-} to do without"


def problems_of(directory: Path, content: bytes) -> list[str]:
    (directory / "config.yaml").write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load(directory, {})
    return str(caught.value).split("\n")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", EMPTY),
        (b"# only this\n", EMPTY),
        (b"- a\n", "config.yaml:1: expected lines of name: value at the top level"),
        (b"\n~\n", "config.yaml:2: expected lines of name: value at the top level"),
        (b"hello\n", "config.yaml:1: expected lines of name: value at the top level"),
        (b"version: 1\nagent:\n\tinstructions: x\n",
         "config.yaml:3: not YAML: a tab where spaces are expected; indent with spaces"),
        (b"version: 1\nlimits: {attempts: 1\n",
         "config.yaml:3: not YAML: expected ',' or '}', but got '<stream end>'"),
        (b"version: 1\nserver: {token: ${TOKEN}}\n",
         'config.yaml:2: not YAML: "{" where it cannot stand; inside { } or [ ], put "${NAME}" in quotes'),
        (b"version: 1\nagent: *x\n", "config.yaml:2: not YAML: an alias (*name) without its anchor (&name); "
         "quote text that begins with *"),
        (b"version: 1\nagent: !!python/object:os.system x\n", TAG),
        (b"version: 1\nagent: !mine {}\n", TAG),
        (b"version: 1\n---\nversion: 1\n", "config.yaml:2: holds a second document (---); expected one"),
        (b"version: 1\n<<: {agent: {}}\n", "config.yaml:2: << is not accepted; write the keys"),
        (b"version: 1\n? [a]\n: 1\n", "config.yaml:2: a key must be text"),
        (b"version: 1\nagent: \x00\n", "config.yaml: holds a control character that YAML does not allow"),
        (b"version: 1\nagent:\n  instructions: \xff\n", "config.yaml:3: is not UTF-8 text; save it as UTF-8"),
        (b"x: 1\n" * 300_000, "config.yaml: is larger than 1024 KiB"),
        (b"[" * 5_000, "config.yaml: nested more than 32 levels deep"),
        (b"version: 1\nagent: &x [*x]\n", "config.yaml: nested more than 32 levels deep"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_configuration_is_refused_in_one_line(
    tmp_path: Path, content: bytes, line: str
) -> None:
    assert problems_of(tmp_path, content) == [line]


def test_aliases_of_aliases_do_not_grow_without_bound(tmp_path: Path) -> None:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    bomb = "\n".join(["version: 1", "a0: &a0 [x, x, x]", *levels])
    assert problems_of(tmp_path, bomb.encode()) == [
        "config.yaml: holds more than 20000 values (aliases count each time)"
    ]


def test_keys_given_twice_are_all_named_with_both_lines(lines: Lines) -> None:
    assert lines(
        """\
        limits:
          attempts: 2
          attempts: 3
        agent: {}
        limits: {}
        """
    ) == [
        "config.yaml:4: limits.attempts: given twice, first in line 3",
        "config.yaml:6: limits: given twice, first in line 2",
    ]


@pytest.mark.parametrize(
    ("first", "line"),
    [
        ("agent: {}", 'config.yaml:1: version: is missing; begin the file with "version: 1"'),
        ("version:", 'config.yaml:1: version: is missing; begin the file with "version: 1"'),
        ("version: 2",
         "config.yaml:1: version: found 2, but this Hart reads version 1; update Hart, or write the file for "
         "it"),
        ("version: 0", "config.yaml:1: version: found 0, expected 1"),
        ("version: true", "config.yaml:1: version: found true, expected 1"),
        ("version: '1'", 'config.yaml:1: version: found "1", expected 1'),
        ("version: [1]", "config.yaml:1: version: found a list, expected 1"),
    ],
)  # fmt: skip
def test_another_version_is_refused_before_anything_else_is_read(
    tmp_path: Path, first: str, line: str
) -> None:
    assert problems_of(tmp_path, f"{first}\nnonsense: 1\n".encode()) == [line]


def test_a_directory_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").mkdir()
    (tmp_path / ".env").mkdir()
    os.mkfifo(tmp_path / "channels.yaml")
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, {})
    assert str(caught.value).split("\n") == [
        ".env: is a directory, expected a file",
        "config.yaml: is a directory, expected a file",
        "channels.yaml: is not a file",
    ]


def test_a_link_to_nothing_is_not_taken_for_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").symlink_to(tmp_path / "gone.yaml")
    with pytest.raises(ConfigError, match=r"config\.yaml: is a link to a file that is not there"):
        load(tmp_path, {})


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="there is no such directory"):
        load(tmp_path / "gone", {})


def test_all_problems_of_all_files_are_shown_at_once_in_order(lines: Lines) -> None:
    assert lines(
        """\
        limits:
          attempts: "many"
          concurrent_run: 3
          model_retries: 1.5
          drain_seconds: .inf
        agent:
          max_model_calls: true
          instructions: $GONE
          default_model: [a]
        server: 8765
        tasks: {}
        """,
        """\
        channels:
          signal: {}
          web: {enabled: perhaps}
          console: {sessions: {direct: per_usr}}
        """,
    ) == [
        'config.yaml:3: limits.attempts: found "many", expected a whole number of 1 or more',
        'config.yaml:4: limits.concurrent_run: unknown key; did you mean "concurrent_runs"?',
        "config.yaml:5: limits.model_retries: found 1.5, expected a whole number of 0 or more",
        "config.yaml:6: limits.drain_seconds: found .inf, expected seconds, from 0 to 86400",
        "config.yaml:8: agent.max_model_calls: found true, expected a whole number of 1 or more",
        f"config.yaml:9: agent.instructions: {UNSET}",
        "config.yaml:10: agent.default_model: found a list, expected up to 64 letters, digits, dots, dashes "
        "or underscores, starting with a letter or digit",
        "config.yaml:11: server: found a single value, expected a mapping with keys out of allowed_hosts, "
        "host, port, token",
        "config.yaml:12: tasks: found a mapping, expected a list",
        "channels.yaml:3: channels.signal: unknown key; accepted: console, feishu, slack, telegram, web",
        'channels.yaml:4: channels.web.enabled: found "perhaps", expected true or false',
        'channels.yaml:5: channels.console.sessions.direct: found "per_usr", expected one of per_user, '
        "per_chat, per_thread, per_user_in_chat",
    ]


def test_text_where_a_number_looks_like_one_asks_for_quotes(lines: Lines) -> None:
    assert lines("agent: {instructions: 42}") == [
        "config.yaml:2: agent.instructions: found 42, expected text (in quotes if it looks like a number)"
    ]


def test_a_value_of_many_lines_or_control_characters_is_shown_on_one_short_line(lines: Lines) -> None:
    (line,) = lines('limits: {attempts: "\\e[31m\\n' + "very long " * 50 + '"}')
    assert line.startswith('config.yaml:2: limits.attempts: found "\\u001b[31m\\nvery long')
    assert len(line) < 160


def test_numbers_and_switches_may_come_from_variables(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(
        "version: 1\nserver: {port: $PORT}\nlimits: {attempts: '${N:-7}'}\n"
    )
    config = load(tmp_path, {"PORT": "0"}).config
    assert (config.server.port, config.limits.attempts) == (0, 7)
    with pytest.raises(
        ConfigError, match=r'server\.port: found what "\$PORT" stands for, expected a port from 1'
    ):
        load(tmp_path, {"PORT": "http"})


def test_an_item_that_cannot_be_read_does_not_shift_the_lines_of_later_ones(lines: Lines) -> None:
    assert lines(
        """\
        server:
          allowed_hosts:
            - $GONE
            - "two words"
            - ${EMPTY:-}
            - "and more"
        """
    ) == [
        f"config.yaml:4: server.allowed_hosts[0]: {UNSET}",
        'config.yaml:5: server.allowed_hosts[1]: found "two words", expected an address or a host name',
        'config.yaml:7: server.allowed_hosts[2]: found "and more", expected an address or a host name',
    ]
