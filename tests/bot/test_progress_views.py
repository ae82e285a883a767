"""From run events to what a chat shows."""

from functools import reduce

from agent_core.events import (
    PresentedFile,
    ReasoningDelta,
    RunEnded,
    RunStatus,
    SubagentEnded,
    SubagentStarted,
    SubagentStatus,
    SubagentStep,
    SubagentText,
    SubagentTool,
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


def test_a_subagent_shows_in_its_tasks_line_what_it_does_now() -> None:
    begun = (ToolStarted("t1", "task", "Subagent: tea"), SubagentStarted("t1", "general-purpose", "tea"))
    reading = SubagentTool("t1", ToolStarted("c1", "read_file", "Reading a.txt"))
    writing = SubagentTool("t1", ToolStarted("c2", "write_file", "Writing b.txt"))
    said = (SubagentStep("t1", 1), SubagentText("t1", "m", "hm"))
    assert view_after(*begun, *said, reading).tools == (ToolLine("t1", "Subagent: tea (Reading a.txt)"),)
    assert view_after(*begun, reading, writing).tools == (ToolLine("t1", "Subagent: tea (Writing b.txt)"),)
    resumed = view_after(*begun, reading, *begun[1:], writing)
    assert resumed.tools == (ToolLine("t1", "Subagent: tea (Writing b.txt)"),)
    ended = SubagentEnded("t1", SubagentStatus.COMPLETED, Usage())
    assert view_after(*begun, reading, ended).tools == (ToolLine("t1", "Subagent: tea"),)
    assert view_after(*begun, *said).text == ""


def test_thoughts_show_their_end_while_there_is_nothing_else() -> None:
    thinking = (ReasoningDelta("a", "First I look. "), ReasoningDelta("a", "Then\nI " + "x" * 50))
    view = view_after(*thinking)
    assert (view.phase, view.text) == (Phase.THINKING, "")
    (line,) = view.tools
    assert line.label == "Thinking: …k. Then I " + "x" * 50
    assert view_after(*thinking, TextDelta("a", "Hello")).tools == ()
    called = view_after(*thinking, ToolStarted("1", "ls", "Listing"), ReasoningDelta("b", "And now"))
    assert [line.label for line in called.tools] == ["Listing", "Thinking: …And now"]
