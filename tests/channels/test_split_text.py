"""Long text is cut where people would cut it, and nothing is lost."""

import time

import pytest
import regex
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from channels.text import split_text, utf16_length

FAMILY = "👩\u200d👩\u200d👧\u200d👦"
SAMPLES = (
    "word| |  |\n|\n\n|\r\n|. |! |。|，|漢字|한국어|👍🏽|🇩🇪|🇫🇷|שלום|مرحبا|नमस्ते|\x00|```|a"
    f"|{FAMILY}|e\u0301|Z\u0301\u0327|\u202e|\u200f|\u200d"
)
WORDS = st.sampled_from(SAMPLES.split("|"))
TEXTS = st.one_of(st.text(max_size=400), st.lists(WORDS, max_size=200).map("".join))


def utf8_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


@given(text=TEXTS, limit=st.integers(4, 80), measure=st.sampled_from([len, utf16_length, utf8_length]))
@settings(deadline=None, max_examples=500)
def test_pieces_fit_and_join_back_to_the_text(text, limit, measure):
    pieces = split_text(text, limit, measure)

    assert "".join(pieces) == text
    assert all(0 < measure(piece) <= limit for piece in pieces)


@given(text=TEXTS, limit=st.integers(30, 80))
@settings(deadline=None, max_examples=500)
def test_what_people_see_as_one_character_stays_whole(text, limit):
    clusters = regex.findall(r"\X", text)
    assume(all(utf16_length(cluster) <= limit for cluster in clusters))

    pieces = split_text(text, limit, utf16_length)

    ends = set()
    end = 0
    for cluster in clusters:
        end += len(cluster)
        ends.add(end)
    cut = 0
    for piece in pieces:
        cut += len(piece)
        assert cut in ends


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("First line here.\nmore.\n\nSecond part, which goes on.", "First line here.\nmore.\n\n"),
        ("One. Two is longer here\nThree goes on and on and on", "One. Two is longer here\n"),
        ("This is a sentence now. And here is another one", "This is a sentence now. "),
        ("plain words without an end to them at all", "plain words without an end to "),
        (
            "这是一个很长的句子没有空格可以切开的地方。下一句也很长很长很长",
            "这是一个很长的句子没有空格可以切开的地方。",
        ),
        ("x" * 60, "x" * 30),
    ],
)
def test_the_best_border_within_reach_is_taken(text, first):
    assert split_text(text, 30)[0] == first


def test_an_early_paragraph_does_not_win_over_a_late_sentence():
    text = "Hi.\n\nA sentence that is long. " + "x" * 40

    assert split_text(text, 40)[0] == "Hi.\n\nA sentence that is long. "


def test_an_emoji_counts_two_and_is_not_halved():
    pieces = split_text("😀" * 5, 5, utf16_length)

    assert pieces == ["😀😀", "😀😀", "😀"]


def test_a_character_larger_than_a_piece_is_cut_rather_than_refused():
    zalgo = "a" + "\u0301" * 100

    pieces = split_text(zalgo, 40, utf16_length)

    assert "".join(pieces) == zalgo
    assert [len(piece) for piece in pieces] == [40, 40, 21]


def test_a_limit_below_one_character_is_refused():
    with pytest.raises(ValueError, match="no character fits"):
        split_text("😀😀", 1, utf16_length)


def test_empty_text_gives_no_piece():
    assert split_text("", 10) == []


@pytest.mark.parametrize(
    "unit",
    ["word and more. ", "字", "x", "😀", "🇩🇪", "e\u0301", FAMILY, ".", ".)", "\n \n", "\u200d", "مرحبا "],
)
def test_200_kb_without_mercy_is_cut_in_time(unit):
    text = unit * (200_000 // utf8_length(unit))
    started = time.process_time()

    pieces = split_text(text, 4096, utf16_length)

    assert "".join(pieces) == text
    assert all(utf16_length(piece) <= 4096 for piece in pieces)
    assert time.process_time() - started < 5


def test_utf16_length_is_that_of_the_encoding():
    for text in ["", "abc", "字", "😀", FAMILY, "\ud800"]:
        assert utf16_length(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2
