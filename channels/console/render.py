"""What the console prints, as strings. Pure: no terminal is touched here.

Text from a model or from another person must not steer the terminal, so control characters are
taken out on the way in, and of what is printed only our own colours remain.
"""

import io
import re
from typing import ClassVar

from rich.console import Console, JustifyMethod
from rich.markdown import Heading, Markdown, MarkdownElement
from rich.text import Text

from channels.feed import FeedEntry
from channels.views import Phase, RunView

# C0 but tab and newline, DEL, C1, line separators, and what turns the writing direction around.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_ESCAPE = re.compile(r"\x1b(?!\[[0-9;]*m)")
_PHASES = {
    Phase.THINKING: "Thinking",
    Phase.WORKING: "Working",
    Phase.ANSWERING: "Writing",
    Phase.DONE: "Finishing",
}
_TAIL_CHARACTERS = 6000
_WIDEST = 100


class _Heading(Heading):
    """Headings start at the left, like everything else in a conversation."""

    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}


class _Answer(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = Markdown.elements | {"heading_open": _Heading}


def plain(text: str) -> str:
    """Text without anything a terminal would obey; tabs and newlines stay."""
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


def answer_text(text: str, width: int, *, color: bool) -> str:
    """An answer as printed: rendered markdown with colours, or the plain text without."""
    if not color:
        return plain(text).rstrip()
    # Links show their address: a terminal hides where a hyperlink leads.
    return _ansi(_Answer(plain(text), hyperlinks=False, code_theme="ansi_dark"), width)


def dim(text: str, *, color: bool) -> str:
    """A remark beside the conversation."""
    return f"\x1b[2m{plain(text)}\x1b[0m" if color else plain(text)


def entry_text(entry: FeedEntry, width: int, *, color: bool) -> str:
    """An entry's text as printed in the interactive console, without its files."""
    if entry.role == "person":
        quoted = "\n  ".join(plain(entry.text).splitlines())
        return dim(f"› {quoted}", color=color)
    return answer_text(entry.text, width, color=color)


def file_text(name: str, path: str, *, color: bool) -> str:
    """Where a file was saved."""
    return dim(f"Saved {plain(name)} as {plain(path)}", color=color)


def phase_text(view: RunView | None) -> str:
    """Where a run stands, in a word."""
    return _PHASES[view.phase] if view is not None else _PHASES[Phase.THINKING]


def live_fragments(view: RunView | None, width: int, height: int) -> list[tuple[str, str]]:
    """The answer being written, as (style, text) fragments of at most ``height`` lines.

    Args:
        view: None when nothing is known yet but that a run will come.
        width: Columns.
        height: Lines, at least 2.
    """
    lines: list[tuple[str, str]] = []
    if view is not None:
        for tool in view.tools:
            mark = "✓" if tool.done and tool.ok else "✗" if tool.done else "·"
            lines.append(("class:tool", f"{mark} {plain(tool.label)}"[: max(1, width - 1)]))
        if view.text:
            console = Console(file=io.StringIO(), width=max(10, width))
            tail = Text(plain(view.text)[-_TAIL_CHARACTERS:])
            lines.extend(("", line.plain.rstrip("\n")) for line in tail.wrap(console, max(10, width - 1)))
    shown = lines[-(height - 1) :]
    shown.append(("class:phase", f"{phase_text(view)}… (Ctrl-C stops)"))
    return [(style, f"{line}\n") for style, line in shown]


def _ansi(content: _Answer, width: int) -> str:
    target = io.StringIO()
    console = Console(
        file=target,
        width=min(max(20, width), _WIDEST),
        force_terminal=True,
        color_system="standard",
        legacy_windows=False,
        highlight=False,
    )
    console.print(content)
    lines = (line.rstrip() for line in _ESCAPE.sub("", target.getvalue()).splitlines())
    return "\n".join(lines).strip("\n")
