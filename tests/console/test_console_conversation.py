from datetime import UTC, datetime
from pathlib import Path

import pytest

from channels.console.commands import TypedLineError, TypedMessage, parse_line
from channels.console.conversation import Conversation
from channels.feed import FeedEntry
from channels.views import Phase, RunView

AT = datetime(2026, 11, 30, tzinfo=UTC)


def answer(reply: str | None, *, final: bool = True, entry_id: str = "h1") -> FeedEntry:
    return FeedEntry(entry_id, "hart", "text", (), AT, "d1", reply, final)


def test_a_message_is_open_until_its_final_answer() -> None:
    talk = Conversation()
    talk.asked("m1", "hello")
    assert talk.busy
    talk.take(answer("m1", final=False, entry_id="h1"))
    assert talk.busy
    talk.take(answer("m1", entry_id="h2"))
    assert not talk.busy


def test_an_answer_closes_what_was_asked_before_it_but_not_after() -> None:
    talk = Conversation()
    for message_id in ("m1", "m2", "m3"):
        talk.asked(message_id, "hello")
    talk.take(answer("m2"))
    assert list(talk.open) == ["m3"]


@pytest.mark.parametrize(("command", "busy"), [("/status", True), ("/stop", False), ("/new", False)])
def test_a_command_closes_a_run_only_if_it_ends_one(command: str, busy: bool) -> None:
    talk = Conversation()
    talk.asked("m1", "hello")
    talk.progress(RunView("r", "m1"))
    talk.asked("m2", command)
    talk.take(answer("m2"))
    assert talk.busy is busy


def test_a_command_alone_is_not_a_run() -> None:
    talk = Conversation()
    talk.asked("m1", "/status")
    assert not talk.busy


def test_progress_that_comes_after_the_answer_is_no_news() -> None:
    talk = Conversation()
    talk.asked("m1", "hello")
    assert talk.progress(RunView("r", "m1", Phase.ANSWERING, "a"))
    talk.take(answer("m1"))
    assert not talk.progress(RunView("r", "m1", Phase.ANSWERING, "ab"))
    assert not talk.progress(RunView("other", None, Phase.DONE))
    assert talk.live is None


def test_a_run_nobody_asked_for_ends_with_its_entry() -> None:
    talk = Conversation()
    talk.progress(RunView("r", None, Phase.WORKING))
    assert talk.busy
    talk.take(answer(None))
    assert not talk.busy


def test_an_entry_counts_once() -> None:
    talk = Conversation()
    assert talk.take(answer(None))
    assert not talk.take(answer(None))


@pytest.mark.parametrize(
    ("line", "text"),
    [("hello", "hello"), ("  hello \n", "hello"), ("/status", "/status"), ("/files", "/files")],
)
def test_a_line_is_a_message(line: str, text: str) -> None:
    assert parse_line(line) == TypedMessage(text)


def test_an_empty_line_is_none() -> None:
    assert parse_line(" \n") is None


def test_file_takes_a_path_and_maybe_text(tmp_path: Path) -> None:
    file = tmp_path / "my notes.txt"
    file.write_text("x")
    assert parse_line(f"/file '{file}'") == TypedMessage("", (file,))
    assert parse_line(f'/file "{file}" what is "this"?') == TypedMessage('what is "this"?', (file,))
    escaped = str(file).replace(" ", "\\ ")
    assert parse_line(f"/file {escaped} it's here") == TypedMessage("it's here", (file,))


@pytest.mark.parametrize("line", ["/file", "/file  ", "/file /no/such/file", "/file 'open", "/file /"])
def test_file_without_a_file_says_what_is_wrong(line: str) -> None:
    with pytest.raises(TypedLineError):
        parse_line(line)
