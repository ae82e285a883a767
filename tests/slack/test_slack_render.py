"""What is sent fits, calls nobody, and reads as it was written."""

from hypothesis import given
from hypothesis import strategies as st

from channels.messages import Address, OutboundMessage, OutboundText
from channels.slack.render import MESSAGE_LIMIT, post_message, quiet, split
from channels.text import utf16_length
from tests.emulators.slack.world import calls_in

HOSTILE = st.text(alphabet="<>!@|^& \nUSWabc0channelhereveryonesubteam`*&lt;#60x3C") | st.text()
TOKENS = st.lists(
    st.sampled_from(
        [
            "<!channel>",
            "<!here|x>",
            "<!everyone>",
            "<!subteam^S0A>",
            "<@U0ANN>",
            "<@W0ANN>",
            "<",
            "a",
            "`",
            "<!",
        ]
    )
).map("".join)


def rendered(piece):
    message = OutboundMessage(
        Address("slack", "main", "C07OPS"), "k", OutboundText(piece), possible_repeat=True
    )
    return post_message(message, piece).params["markdown_text"]


@given(HOSTILE | TOKENS)
def test_nothing_calls_people_and_only_invisible_gaps_are_added(text):
    made = quiet(text)

    assert calls_in(made) == ()
    assert made.replace("\u200b", "") == text.replace("\u200b", "")


def test_calls_are_found_in_every_disguise():
    for text in (
        "<!channel>",
        "<!CHANNEL>",
        "< !here>",
        "<!  here|label>",
        "&lt;!channel&gt;",
        "&#60;!channel>",
        "&#x3C;@U0ANN>",
        "`<!everyone>`",
        "[x](<!here>)",
        "<@U0ANN|ann>",
        "<!subteam^S0A|@ops>",
    ):
        assert quiet(text) != text


def test_what_calls_nobody_stays_as_it_is():
    for text in (
        "<!DOCTYPE html>",
        "<!-- note -->",
        "a <b@c.example>",
        "List<@NonNull String>",
        "x < !y",
        "<#C07>",
    ):
        assert quiet(text) == text


@given(HOSTILE.map(lambda text: text * 700))
def test_every_piece_fits_with_the_mark(text):
    assert all(utf16_length(rendered(piece)) <= MESSAGE_LIMIT for piece in split(text))


def test_all_pieces_together_are_the_text_and_code_blocks_stay_closed():
    code = "```python\n" + "".join(f"line_{number} = <b>\n" for number in range(2000)) + "```"
    first, *_, last = pieces = split(f"Before.\n\n{code}\n\nAfter.")

    assert all(piece.count("```") == 2 for piece in pieces)
    assert first.startswith("Before.")
    assert last.endswith("After.")
    assert [line for piece in pieces for line in piece.splitlines() if line.startswith("line_")] == [
        f"line_{number} = <b>" for number in range(2000)
    ]


def test_a_text_of_calls_alone_still_fits():
    for piece in split("<@U" * 10_000):
        assert utf16_length(rendered(piece)) <= MESSAGE_LIMIT
