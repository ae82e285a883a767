import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.console.terminal import ROOT, Terminal, command
from tests.web.conftest import eventually
from tests.web.local_hall import LocalServer

CTRL_C, CTRL_D, ALT_ENTER, TAB = "\x03", "\x04", "\x1b\r", "\t"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
async def terminal(server: LocalServer, home: Path) -> AsyncIterator[Terminal]:
    opened = Terminal()
    await opened.start(server.url, home)
    try:
        await opened.until("Ctrl-D leaves")
        await opened.until("›")
        yield opened
    finally:
        await opened.close()


async def test_an_answer_is_seen_while_it_is_written_and_rendered_at_the_end(
    server: LocalServer, terminal: Terminal
) -> None:
    server.hall.pause = 0.5
    terminal.type("one **two** three four five\r")
    await terminal.until("Writing…")
    await terminal.until("You said: one two three four five")
    terminal.type(CTRL_D)
    assert await terminal.ended() == 0


async def test_an_answer_that_comes_while_typing_leaves_the_line_alone(
    server: LocalServer, terminal: Terminal
) -> None:
    terminal.type("half a li")
    await terminal.until("half a li")
    await server.hall.say(server.hall.channels["console"].address("main"), "Your digest", None)
    await terminal.until("Your digest")
    terminal.type("ne\r")
    await terminal.until("You said: half a line")
    assert [message.text for message in server.hall.accepted] == ["half a line"]


async def test_tool_calls_are_shown_while_they_run(server: LocalServer, terminal: Terminal) -> None:
    server.hall.pause = 0.05
    terminal.type("tools\r")
    await terminal.until("✓ Reading notes.md")
    await terminal.until("Writing report.md")
    await terminal.until("You said: tools")


@pytest.mark.parametrize("keys", [f"one{ALT_ENTER}two\r", "one\\\rtwo\r"])
async def test_lines_can_be_joined(server: LocalServer, terminal: Terminal, keys: str) -> None:
    terminal.type(keys)
    await eventually(lambda: len(server.hall.accepted) == 1)
    assert server.hall.accepted[0].text == "one\ntwo"


async def test_ctrl_c_stops_the_run_and_not_the_console(server: LocalServer, terminal: Terminal) -> None:
    terminal.type("wait\r")
    await terminal.until("said: wait")
    terminal.type(CTRL_C)
    await terminal.until("Stopped.")
    terminal.type("hello\r")
    await terminal.until("You said: hello")
    assert [message.text for message in server.hall.accepted] == ["wait", "/stop", "hello"]


async def test_ctrl_c_without_a_run_clears_the_line(server: LocalServer, terminal: Terminal) -> None:
    terminal.type(CTRL_C)
    await terminal.until("Ctrl-D leaves.")
    terminal.type(f"not this{CTRL_C}but this\r")
    await terminal.until("You said: but this")


async def test_files_are_sent_and_saved(
    server: LocalServer, terminal: Terminal, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("some notes")
    terminal.type(f"/file {tmp_path / 'notes.txt'} look\r")
    await terminal.until("Saved notes.txt as")
    assert (home / "downloads" / "main" / "notes.txt").read_text() == "some notes"
    terminal.type("/file /no/such/file\r")
    await terminal.until("There is no file /no/such/file.")


async def test_commands_are_completed(server: LocalServer, terminal: Terminal) -> None:
    terminal.type("/who")
    await terminal.until("how Hart sees you")
    terminal.type(TAB)
    await terminal.until("/whoami")
    terminal.type("\r\r")
    await terminal.until("You asked for /whoami.")


async def test_what_the_model_says_does_not_steer_the_terminal(
    server: LocalServer, terminal: Terminal
) -> None:
    address = server.hall.channels["console"].address("main")
    await server.hall.say(address, "\x1b]0;owned\x07 \x1b[31mred \x9b2J &#27;[2J the end", None)
    await terminal.until("the end")
    assert "\x1b]0;" not in terminal.raw
    assert "\x9b" not in terminal.raw
    assert "\x1b[31mred" not in terminal.raw


async def test_a_message_typed_while_the_server_is_away_arrives_once(
    server: LocalServer, terminal: Terminal
) -> None:
    await server.stop()
    await terminal.until("Reconnecting…")
    terminal.type("hello\r")
    await server.start()
    await terminal.until("You said: hello")
    assert len(server.hall.accepted) == 1


async def test_history_and_the_last_words_are_there_next_time(
    server: LocalServer, terminal: Terminal, home: Path
) -> None:
    terminal.type("remember me\r")
    await terminal.until("You said: remember me")
    terminal.type(CTRL_D)
    await terminal.ended()
    again = Terminal()
    await again.start(server.url, home)
    try:
        await again.until("You said: remember me")
        await again.until("›")
        again.type("\x1b[A\r")
        await eventually(lambda: len(server.hall.accepted) == 2)
    finally:
        await again.close()
    assert [message.text for message in server.hall.accepted] == ["remember me", "remember me"]


async def test_a_server_that_is_not_there_is_said_so_at_once(server: LocalServer, home: Path) -> None:
    terminal = Terminal()
    await terminal.start("http://127.0.0.1:1", home)
    try:
        await terminal.until("Is it running?")
        assert await terminal.ended() == 1
    finally:
        await terminal.close()


async def piped(server: LocalServer, home: Path, lines: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *command(server.url, home), cwd=ROOT,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(60):
        out, err = await process.communicate(lines.encode())
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def test_piped_lines_are_answered_in_order(server: LocalServer, home: Path) -> None:
    code, out, err = await piped(server, home, "one\n\ntwo **bold**\n/whoami\nno newline")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "You said: one",
        "You said: two **bold**",
        "You asked for /whoami.",
        "You said: no newline",
    ]


async def test_piped_files_are_sent_and_saved(server: LocalServer, home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("content")
    code, out, err = await piped(server, home, f"/file {tmp_path / 'a.txt'} look\n/file /no/such/file\n")
    assert code == 1
    assert "You said: look" in out
    assert "There is no file /no/such/file." in err
    assert (home / "downloads" / "main" / "a.txt").read_text() == "content"
