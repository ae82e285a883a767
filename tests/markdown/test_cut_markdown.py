"""Long Markdown is cut so that each piece makes sense alone, and nothing is lost."""

import re
import time

import pytest
import regex
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from channels.markdown.cutting import cut_markdown, join_markdown, split_markdown
from channels.text import utf16_length
from tests.markdown.documents import FAMILY, hostile, indented, seen, well_formed


def utf8_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


MEASURES = st.sampled_from([len, utf16_length, utf8_length])
HEAD = "| left | right |\n|---|---|\n"


@given(text=hostile | well_formed, limit=st.integers(4, 300), measure=MEASURES)
@settings(deadline=None, max_examples=200)
def test_pieces_fit_and_join_back_to_the_text(text, limit, measure):
    pieces = cut_markdown(text, limit, measure)

    assert join_markdown(pieces) == text
    assert all(piece.source and measure(piece.text) <= limit for piece in pieces)
    assert all(piece.text or piece.source.isspace() for piece in pieces)


@given(text=hostile, limit=st.integers(30, 120))
@settings(deadline=None, max_examples=150)
def test_what_people_see_as_one_character_stays_whole(text, limit):
    clusters = regex.findall(r"\X", text)
    assume(all(utf16_length(cluster) <= limit // 2 for cluster in clusters))

    ends, end = set(), 0
    for cluster in clusters:
        end += len(cluster)
        ends.add(end)
    cut = 0
    for piece in cut_markdown(text, limit, utf16_length):
        cut += len(piece.source)
        assert cut in ends


@given(text=well_formed, limit=st.integers(150, 400))
@settings(deadline=None, max_examples=200)
def test_readers_of_the_pieces_see_what_readers_of_the_whole_see(text, limit):
    whole = seen(text)
    pieces = [
        seen(piece.replace(HEAD, "", 1) if at else piece)
        for at, piece in enumerate(split_markdown(text, limit))
    ]

    assert [line for piece in pieces for line in piece.code] == whole.code
    assert [link for piece in pieces for link in piece.links] == whole.links
    assert [bold for piece in pieces for bold in piece.bold] == whole.bold


@given(text=hostile, limit=st.integers(60, 300))
@settings(deadline=None, max_examples=150)
def test_nothing_is_added_but_fences_and_table_heads(text, limit):
    for piece in cut_markdown(text, limit):
        kept = piece.source.lstrip(" \t")
        inner = "".join(piece.text.split())
        assert "".join(kept.split()) in inner
        added = inner.replace("".join(kept.split()), "", 1)
        assert not added or re.search(r"[`~|-]", added)


def test_a_code_block_is_closed_and_opened_again_with_its_language():
    code = "\n".join(f"line_{number} = {number}" for number in range(8))

    pieces = split_markdown(f"Look:\n\n```python\n{code}\n```\n\nDone.", 80)

    assert pieces == [
        "Look:\n\n```python\nline_0 = 0\nline_1 = 1\nline_2 = 2\nline_3 = 3\nline_4 = 4\n```",
        "```python\nline_5 = 5\nline_6 = 6\nline_7 = 7\n```\n\nDone.",
    ]


@pytest.mark.parametrize(
    ("mark", "inner"), [("````", "```"), ("~~~", "```"), ("```", "~~~"), ("~~~~", "~~~")]
)
def test_a_fence_inside_a_longer_or_other_fence_is_code(mark, inner):
    text = f"{mark}md\n" + f"{inner}py\nx = 1\n{inner}\n" * 12 + mark

    for piece in split_markdown(text, 80):
        assert piece.startswith(f"{mark}md\n")
        assert piece.endswith(f"\n{mark}")
        assert not seen(piece).words


def test_an_unclosed_fence_is_code_to_the_end():
    pieces = split_markdown("```sh\n" + "echo hello\n" * 20, 80)

    assert len(pieces) > 3
    assert all(piece.startswith("```sh\n") for piece in pieces)
    assert [line for piece in pieces for line in seen(piece).code] == ["echo hello"] * 20


@pytest.mark.parametrize(("margin", "opening"), [("", ""), ("> ", "> "), ("  ", "- "), ("     ", "1.   ")])
def test_code_in_lists_and_quotes_stays_code(margin, opening):
    code = [f"call({number})" for number in range(30)]
    text = opening + indented("\n".join(["```py", *code, "```"]), margin)[len(margin) :] + "\n\nAfter."

    pieces = [seen(piece) for piece in split_markdown(text, 120)]

    assert [line for piece in pieces for line in piece.code] == code
    assert [word for piece in pieces for word in piece.words] == ["After."]


def test_a_line_of_code_longer_than_a_piece_is_cut_within_the_fence():
    pieces = split_markdown("```\n" + "x" * 300 + "\n```", 100)

    assert all(piece.startswith("```\nx") and piece.endswith("x\n```") for piece in pieces)


def test_a_table_gets_its_head_again_and_rows_stay_whole():
    rows = [f"| {number} | some words of number {number} |" for number in range(30)]
    head = "| no | text |\n|---:|------|\n"

    pieces = split_markdown(head + "\n".join(rows), 300)

    assert len(pieces) > 3
    assert all(piece.startswith(head) for piece in pieces)
    assert [row for piece in pieces for row in piece.strip().split("\n")[2:]] == rows


def test_inner_items_do_not_become_code():
    text = "\n".join(f"- item {n}\n    - inner item {n}\n        - innermost item {n}" for n in range(20))

    for piece in split_markdown(text, 100):
        assert not seen(piece).code


def test_a_marker_stays_with_its_item_and_a_heading_with_what_it_heads():
    text = "x" * 50 + "\n\n## Heading here\n\n" + "word " * 30 + "\n\n- " + "y" * 120

    pieces = split_markdown(text, 80)

    assert not any(re.search(r"(##|Heading here|-|\n- )\s*$", piece) for piece in pieces)


def test_a_cut_does_not_make_a_list_or_heading_out_of_a_sentence():
    for text in [
        "some words and then - a dash " * 30,
        "we are number # one " * 30,
        "add 1. to 2. and > it " * 30,
    ]:
        for piece in split_markdown(text, 60):
            assert not re.match(r"[-#>]|\d\.", piece)


@pytest.mark.parametrize(
    "span",
    [
        "[a link with words](https://example.com/some/path)",
        "`a code span with spaces`",
        "**bold words in a row**",
        "![picture with words](https://example.com/x.png)",
        "**重点：**",
        "***both at once***",
        "~~gone and done~~",
    ],
)
@pytest.mark.parametrize("filler", ["word ", "字"])
def test_spans_stay_whole(span, filler):
    for offset in range(0, 60, 7):
        text = filler * offset + (span + filler * 3) * 12
        pieces = split_markdown(text, 100)
        assert sum(piece.count(span) for piece in pieces) == 12


def test_a_span_longer_than_a_piece_is_cut_at_a_word():
    pieces = split_markdown("**" + "bold words " * 30 + "x**", 100)

    assert all(piece.endswith(" ") for piece in pieces[:-1])


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "word and more. ",
            "字",
            "x",
            "😀",
            "🇩🇪",
            "e\u0301",
            FAMILY,
            "مرحبا ",
            "**重点：**内容",
            "*a",
            "**a ",
            "`",
            "``a`",
        ),
        *(
            "[",
            "[a](",
            "![",
            "- ",
            "- a\n",
            "  - a\n",
            "> ",
            "> - a\n",
            "|a",
            "a|b\n-|-\n",
            "| a | b |\n",
            "```\n",
            "<",
            "<!--",
        ),
        *("```\ncode\n```\n", "~", "\\", "&amp;", "\n \n", "\t", "\u200d", "# a\n", "---\n", "a\n\n"),
    ],
)
def test_200_kb_without_mercy_is_cut_in_time(unit):
    text = unit * (200_000 // utf8_length(unit))
    started = time.process_time()

    pieces = cut_markdown(text, 4096, utf16_length)

    assert join_markdown(pieces) == text
    # Far above what it takes; what grows with the square takes minutes.
    assert time.process_time() - started < 40


def test_short_text_is_left_alone_and_empty_text_gives_no_piece():
    assert split_markdown("```\nunclosed", 100) == ["```\nunclosed"]
    assert split_markdown("", 10) == []


def test_a_limit_below_one_character_is_refused():
    with pytest.raises(ValueError, match="no character fits"):
        cut_markdown("😀😀", 1, utf16_length)
