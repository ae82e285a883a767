"""Markdown to test with: hostile, well-formed, and how to read it back."""

from dataclasses import dataclass
from typing import Any

import pyromark
from hypothesis import strategies as st

from channels.markdown.cjk import mark_emphasis, unmark
from channels.markdown.outline import OPTIONS

FAMILY = "👩\u200d👩\u200d👧\u200d👦"

HOSTILE_PARTS = [
    *(
        "word",
        " ",
        "  ",
        "\n",
        "\n\n",
        "\r\n",
        "\t",
        ". ",
        "。",
        "，",
        "\\",
        "\x00",
        "\ufdd0",
        "\ud83d",
        "a" * 70,
    ),
    *(
        "```",
        "````",
        "```py\n",
        "\n```\n",
        "~~~",
        "~~~~\n",
        "~~~ info`s\n",
        "   ```",
        "    ```",
        "`",
        "``",
        "`` ` ``",
    ),
    *(
        "- ",
        "* ",
        "+ ",
        "1. ",
        "10) ",
        "- [ ] ",
        "> ",
        ">",
        "    ",
        "# ",
        "###### ",
        "---\n",
        "===\n",
        "***\n",
    ),
    *(
        "**",
        "*",
        "_",
        "__",
        "~~",
        "~",
        "***",
        "||",
        "$",
        "$$",
        "**重点：**内容",
        "**“重点”**",
        "漢字かな한국어",
    ),
    *(
        "[",
        "](",
        ")",
        "[a](http://example.com/b_(c))",
        "![alt](x.png)",
        "[a]: http://e.org\n",
        "[a][b]",
        "[^1]",
    ),
    *(
        "<",
        ">",
        "<b>",
        "</b>",
        "<div>\n",
        "<!--",
        "-->",
        "<http://example.com>",
        "&amp;",
        "&#0;",
        "&lt;script&gt;",
    ),
    *("| a | b |\n", "|---|:-:|\n", "|-|-|\n", "|", "a|b\n-|-\n", "\\|"),
    *(
        "<!channel>",
        "<@U123>",
        "@all",
        '<at user_id="all"></at>',
        "<at id=all></at>",
        "javascript:x",
        "src/main.py",
    ),
    *(
        "😀",
        "👍🏽",
        "🇩🇪",
        "🇫🇷",
        FAMILY,
        "e\u0301",
        "Z\u0301\u0327",
        "שלום",
        "مرحبا",
        "\u202e",
        "\u200f",
        "नमस्ते",
    ),
]

hostile = st.one_of(
    st.lists(st.sampled_from(HOSTILE_PARTS), max_size=120).map("".join), st.text(max_size=300)
)
"""What no person would write."""

_words = st.sampled_from(
    [
        "plain words here",
        "**bold words**",
        "*slanted*",
        "`code span`",
        "[a link](https://example.com/p)",
        "你好，世界。",
    ]
)
_sentence = st.lists(_words, min_size=1, max_size=6).map(lambda words: " ".join(words) + ".")
_code_line = st.sampled_from(
    ["x = 1", "    indented()", "", "# no heading", "- no item", "| no | table |", "``", "> no"]
)


@st.composite
def _fence(draw: st.DrawFn) -> str:
    mark = draw(st.sampled_from(["```", "````", "~~~", "~~~~~"]))
    info = draw(st.sampled_from(["", "py", "js title=a"]))
    lines = draw(st.lists(_code_line, min_size=1, max_size=12))
    return "\n".join([mark + info, *lines, mark])


@st.composite
def _table(draw: st.DrawFn) -> str:
    rows = draw(st.lists(st.tuples(_words, _words), min_size=1, max_size=8))
    return "\n".join(["| left | right |", "|---|---|", *(f"| {left} | {right} |" for left, right in rows)])


_list = st.recursive(
    st.lists(_sentence, min_size=1, max_size=4).map(lambda items: "\n".join(f"- {item}" for item in items)),
    lambda inner: st.tuples(_sentence, inner | _fence()).map(
        lambda pair: f"- {pair[0]}\n\n{indented(pair[1], '  ')}"
    ),
    max_leaves=4,
)
_quote = st.tuples(_sentence, _fence()).map(lambda pair: indented("\n\n".join(pair), "> "))
_heading = st.sampled_from(["# Title", "### Smaller"])
well_formed = st.lists(
    st.one_of(_sentence, _fence(), _table(), _list, _quote, _heading), min_size=1, max_size=12
).map("\n\n".join)
"""What a model writes."""


def indented(text: str, margin: str) -> str:
    """The text as a part of a list or quote."""
    return "\n".join((margin + line).rstrip(" ") for line in text.split("\n"))


@dataclass(frozen=True)
class Seen:
    """What a reader sees of a text: words outside of code blocks, lines of code, links, bold words."""

    words: list[str]
    code: list[str]
    links: list[str]
    bold: list[str]


def seen(text: str) -> Seen:
    """Read a text with the CommonMark parser; CJK emphasis as people mean it."""
    words, code, links, bold = "", "", [], []
    stack: list[str] = []
    for event in pyromark.events(mark_emphasis(text)[0], options=OPTIONS):
        match event:
            case {"Start": tag}:
                name = _name(tag)
                stack.append(name)
                words += " " if name not in ("Strong", "Emphasis", "Link") else ""
                if name == "Link":
                    links.append(tag["Link"]["dest_url"])
                if name == "Strong":
                    bold.append("")
            case {"End": _}:
                stack.pop()
            case {"Text": part} | {"Code": part} if "CodeBlock" in stack:
                code += part
            case {"Text": part} | {"Code": part} | {"Html": part} | {"InlineHtml": part}:
                words += part
                if "Strong" in stack:
                    bold[-1] += part
            case "SoftBreak" | "HardBreak":
                words += " "
    return Seen(
        unmark(words).split(), [line for line in code.split("\n") if line], links, [unmark(b) for b in bold]
    )


def _name(tag: Any) -> str:
    return next(iter(tag)) if isinstance(tag, dict) else tag
