import re

import pytest

from channels.console.render import answer_text, dim, file_text, live_fragments, plain
from channels.views import Phase, RunView, ToolLine

HOSTILE = (
    "\x1b]0;title\x07 \x1b[2J\x1b[31m \x9b2J \x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\ "
    "\x1bP+q\x1b\\ \x08\x08\x7f \u202egnp.exe \r overwritten &#27;[2J &#x1b;]0;x &#155;2J"
)
OURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize(
    "text", [HOSTILE, f"```\n{HOSTILE}\n```", f"# {HOSTILE}\n- {HOSTILE}", f"`{HOSTILE}`"]
)
@pytest.mark.parametrize("color", [True, False])
def test_nothing_in_an_answer_steers_the_terminal(text: str, color: bool) -> None:
    shown = OURS.sub("", answer_text(text, 80, color=color))
    assert re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown) == []
    assert "click" in shown


def test_nothing_in_names_steers_the_terminal() -> None:
    view = RunView("r", None, Phase.WORKING, HOSTILE, (ToolLine("1", HOSTILE),))
    live = "".join(text for _, text in live_fragments(view, 80, 20))
    for shown in (dim(HOSTILE, color=False), file_text(HOSTILE, HOSTILE, color=False), live):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown)


def test_lines_and_tabs_stay() -> None:
    assert plain("a\tb\r\nc\n") == "a\tb\nc\n"


def test_without_colours_an_answer_is_its_markdown() -> None:
    assert answer_text("# Title\n\n- *one*\n", 80, color=False) == "# Title\n\n- *one*"


def test_with_colours_markdown_is_rendered() -> None:
    shown = answer_text("# Title\n\n- **one**\n\n```\ncode\n```", 80, color=True)
    assert "\x1b[" in shown
    assert "**" not in shown
    lines = [line.strip() for line in OURS.sub("", shown).splitlines()]
    assert lines[0] == "Title"
    assert "• one" in lines
    assert "code" in lines


def test_a_link_shows_where_it_leads() -> None:
    assert "https://evil.example/x" in answer_text("[bank](https://evil.example/x)", 80, color=True)


@pytest.mark.parametrize("height", [2, 5, 12])
def test_the_live_part_fits_its_lines_and_shows_the_newest(height: int) -> None:
    view = RunView(
        "r", None, Phase.ANSWERING, "\n".join(f"line {n}" for n in range(100)), (ToolLine("1", "x"),)
    )
    lines = "".join(text for _, text in live_fragments(view, 40, height)).splitlines()
    assert len(lines) == height
    assert lines[-1].startswith("Writing")
    assert lines[-2] == "line 99"


def test_long_lines_of_the_live_part_are_wrapped() -> None:
    view = RunView("r", None, Phase.ANSWERING, "word " * 200 + "字" * 200)
    for _, text in live_fragments(view, 40, 12):
        assert len(text.rstrip("\n")) <= 40


def test_tool_calls_say_how_they_ended() -> None:
    tools = (ToolLine("1", "a", True, True), ToolLine("2", "b", True, False), ToolLine("3", "c"))
    lines = [text.strip() for _, text in live_fragments(RunView("r", None, Phase.WORKING, "", tools), 40, 10)]
    assert lines == ["✓ a", "✗ b", "· c", "Working… (Ctrl-C stops)"]
