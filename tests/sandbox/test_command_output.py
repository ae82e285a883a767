"""Output is bounded, and readable whatever is in it."""

from hypothesis import given
from hypothesis import strategies as st

from agent_core.sandbox.output import OutputBuffer, readable
from agent_core.sandbox.sandbox import CommandResult
from agent_core.tools.bash import told


def kept(*pieces: bytes, limit: int = 100) -> tuple[str, bool]:
    buffer = OutputBuffer(limit)
    for piece in pieces:
        buffer.add(piece)
    return buffer.text()


def test_what_steers_a_terminal_is_taken_out() -> None:
    assert readable("\x1b[31mred\x1b[0m \x1b]0;title\x07x\x00y\x08\x1b(B") == "red xy"
    assert readable("10%\r50%\r100%\ndone\r\n") == "100%\ndone\n"
    assert readable("tab\tand größe 字\n") == "tab\tand größe 字\n"


def test_a_character_cut_between_two_pieces_stays_whole() -> None:
    word = "字".encode()
    assert kept(word[:1], word[1:]) == ("字", False)


def test_bytes_that_are_no_text_are_marked() -> None:
    assert kept(b"\xff\xfeok") == ("��ok", False)


@given(st.lists(st.binary(max_size=400), max_size=40), st.integers(10, 200))
def test_output_is_never_longer_than_its_limit_and_a_note(pieces: list[bytes], limit: int) -> None:
    text, truncated = kept(*pieces, limit=limit)
    assert len(text) <= limit + 60
    if not truncated:
        assert text == readable(b"".join(pieces).decode("utf-8", "replace"))


def test_a_result_is_told_in_words() -> None:
    assert told(CommandResult("", 0), 5) == "(no output)"
    assert told(CommandResult("a\n", 2), 5) == "a\n(exit code 2)"
    assert told(CommandResult("a\n", None, timed_out=True), 5) == (
        "a\n(killed after 5 s; give it more time, or do less at once)"
    )
    assert told(CommandResult("a\n", None, notice="The disk is full."), 5) == "a\n(The disk is full.)"
