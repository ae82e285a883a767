"""From run events to what a chat shows."""

from functools import reduce

from agent_core.events import (
    PresentedFile,
    RunEnded,
    RunStatus,
    TextDelta,
    ToolFinished,
    ToolStarted,
    Usage,
)
from bot.presenter import Progress, fold
from channels.views import Phase, RunView, ToolLine

START = Progress(RunView("run-1", "m-1"))


def view_after(*events) -> RunView:
    return reduce(fold, events, START).view


def test_text_grows() -> None:
    view = view_after(TextDelta("a", "Hel"), TextDelta("a", "lo"))
    assert (view.phase, view.text) == (Phase.ANSWERING, "Hello")


def test_a_new_message_id_starts_over() -> None:
    assert view_after(TextDelta("a", "broken tr"), TextDelta("b", "whole")).text == "whole"


def test_tools_are_listed_in_order_with_their_outcome() -> None:
    view = view_after(
        ToolStarted("1", "write_file", "Writing a.md"),
        ToolStarted("2", "write_file", "Writing b.md"),
        ToolFinished("1", "write_file", ok=False),
    )
    assert view.tools == (ToolLine("1", "Writing a.md", done=True, ok=False), ToolLine("2", "Writing b.md"))
    assert view.phase is Phase.WORKING


def test_a_call_told_twice_after_a_resume_is_shown_once() -> None:
    started = ToolStarted("1", "write_file", "Writing a.md")
    assert view_after(started, started).tools == (ToolLine("1", "Writing a.md"),)


def test_the_end_shows_the_whole_answer() -> None:
    ended = RunEnded(RunStatus.DONE, "Done.", (PresentedFile("/mnt/user-data/outputs/a", "a"),), Usage())
    assert view_after(TextDelta("a", "Do"), ended).text == "Done."
    assert view_after(ended).phase is Phase.DONE
