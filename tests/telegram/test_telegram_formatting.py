"""Markdown becomes text and entities that Telegram takes, whatever a model writes."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.messages import Address, OutboundMessage, OutboundText
from channels.telegram.formatting import MOST_ENTITIES, format_markdown, is_good_url
from channels.telegram.render import MESSAGE_LIMIT, REPEAT_MARK, render, split
from channels.text import utf16_length
from tests.emulators.telegram.entities import check_entities
from tests.markdown.documents import hostile, seen, well_formed


def marked(markdown):
    """The text, and each entity as (kind, what it covers)."""
    shown = format_markdown(markdown)
    data = shown.text.encode("utf-16-le")
    parts = [(e.kind, data[2 * e.offset : 2 * e.end].decode("utf-16-le")) for e in shown.entities]
    return shown.text, parts


@pytest.mark.parametrize(
    ("markdown", "text", "parts"),
    [
        ("**a** *b* ~~c~~ `d`", "a b c d", ["bold a", "italic b", "strikethrough c", "code d"]),
        ("😀 **b** 👍🏽 *i*", "😀 b 👍🏽 i", ["bold b", "italic i"]),
        ("**重点：**内容", "重点：内容", ["bold 重点："]),
        ("内容**“重点”**内容", "内容“重点”内容", ["bold “重点”"]),
        ("`a：**内`", "a：**内", ["code a：**内"]),
        ("# Title\ntext", "Title\ntext", ["bold Title", "underline Title"]),
        ("- a\n- [ ] b\n- [x] c", "• a\n☐ b\n✅ c", []),
        ("a || b || c", "a || b || c", []),
        ("use `x || y`", "use x || y", ["code x || y"]),
        ("<b>x</b> &lt; **y**", "<b>x</b> < y", ["bold y"]),
        ("<details>\n**in**\n</details>", "<details>\nin\n</details>", ["bold in"]),
        ("<!-- kept -->", "<!-- kept -->", []),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a | b\n--+--\n1 | 2", ["pre a | b\n--+--\n1 | 2"]),
        ("\n\n  **a**  \n", "a", ["bold a"]),
        ("snake_case_name and 2*3*4", "snake_case_name and 234", ["italic 3"]),
    ],
)
def test_markdown_becomes_text_and_entities(markdown, text, parts):
    assert marked(markdown) == (text, [tuple(part.split(" ", 1)) for part in parts])


def test_code_keeps_its_language():
    (entity,) = format_markdown("```python title=x\nprint()\n```").entities

    assert (entity.kind, entity.language) == ("pre", "python")


def test_good_links_are_links():
    (entity,) = format_markdown("[a](https://example.com/b_(c)?d=1#e)").entities

    assert entity.url == "https://example.com/b_(c)?d=1#e"


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("[main](src/main.py)", "main (src/main.py)"),
        ("[app](http://localhost:3000)", "app (http://localhost:3000)"),
        ("**[a](./x) b** c", "a (./x) b c"),
        ("[x](javascript:alert(1))", "x"),
        ("[me](tg://user?id=1)", "me"),
        ("[part](#part)", "part"),
        ("<me@example.com>", "me@example.com"),
        ("[src/a.py](src/a.py)", "src/a.py"),
    ],
)
def test_a_link_telegram_would_refuse_is_text(markdown, text):
    shown, parts = marked(markdown)

    assert shown == text
    assert "text_link" not in dict(parts)


def test_a_link_in_a_table_shows_its_target():
    text, _ = marked("| a |\n|---|\n| [x](https://example.com/y) |")

    assert "x https://example.com/y" in text


@pytest.mark.parametrize(
    ("url", "good"),
    [
        ("https://example.com", True),
        ("http://127.0.0.1:8000/x", True),
        ("https://bücher.example/ü", True),
        ("src/main.py", False),
        ("/abs", False),
        ("//example.com", False),
        ("http://localhost", False),
        ("http://intranet/x", False),
        ("file:///etc/passwd", False),
        ("javascript:alert(1)", False),
        ("tg://user?id=1", False),
        ("mailto:a@example.com", False),
        ("https://user@example.com", False),
        ("https://example..com", False),
        ("https://example.com:99999", False),
        ("https://[::1", False),
        ("https://exa mple.com", False),
        ("https://example.com/" + "x" * 3000, False),
        ("", False),
    ],
)
def test_what_a_link_may_lead_to(url, good):
    assert is_good_url(url) is good


@given(markdown=hostile | well_formed)
@settings(deadline=None, max_examples=500)
def test_telegram_takes_whatever_comes_out(markdown):
    for piece in split(markdown):
        call = render(OutboundMessage(Address("telegram", "main", "1"), "k", OutboundText(piece), None, True))
        text = call.params["text"]
        assert isinstance(text, str)
        assert text.startswith(REPEAT_MARK)
        assert utf16_length(text) <= MESSAGE_LIMIT
        assert text.removeprefix(REPEAT_MARK).strip()
        assert "\ufdd0" not in str(call.params)
        check_entities(call.params.get("entities", []), text)


@given(markdown=well_formed)
@settings(deadline=None, max_examples=200)
def test_all_words_and_code_are_shown(markdown):
    text = format_markdown(markdown).text
    expected = seen(markdown)

    assert set(expected.words) <= set(text.replace("•", " ").replace("|", " ").split()) | {"|"}
    lines = text.split("\n")
    assert set(expected.code) <= {*lines, *(line.strip() for line in lines)}


@pytest.mark.parametrize(
    "unit",
    [
        "| " + "wide " * 60 + "| b |\n|---|---|\n" + "| 1 | 2 |\n" * 200,
        "***\n",
        "1.\n",
        "*\n",
        "- " * 200 + "\n",
        "# a\n",
        "$1",
        "~a",
        "[a](b)",
        "||",
        "\\[\\alpha",
        "<",
        "**重：**内",
        "😀\n\n",
    ],
)
@given(st.integers(1, 3))
@settings(deadline=None, max_examples=2)
def test_what_grows_when_it_is_shown_still_fits(unit, scale):
    started = time.process_time()
    for piece in split(unit * (scale * 4000 // len(unit) + 1)):
        call = render(OutboundMessage(Address("telegram", "main", "1"), "k", OutboundText(piece)))
        assert utf16_length(str(call.params["text"])) <= MESSAGE_LIMIT
        check_entities(call.params.get("entities", []), str(call.params["text"]))
    assert time.process_time() - started < 10


def test_of_too_many_entities_the_links_and_code_stay():
    shown = format_markdown("*i* " * 150 + "[a](https://example.com) `code` " * 10)

    kinds = [entity.kind for entity in shown.entities]
    assert len(kinds) == MOST_ENTITIES
    assert kinds.count("text_link") == kinds.count("code") == 10
