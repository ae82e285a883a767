"""What goes out: pure decisions about pieces, tables, tags and places."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.errors import PermanentSendError
from channels.feishu.render import (
    CARD_LIMIT,
    count_tables,
    destinations,
    idempotency_key,
    neutralise,
    split,
    text_forms,
)
from channels.messages import Address, OutboundMessage, OutboundText

TABLE = "| a | b |\n|---|:-:|\n| 1 | 2 |\n"


@settings(max_examples=60, deadline=None)
@given(st.text(st.sampled_from('ab 字😀\n"\\<at|-`\t\x01'), max_size=200), st.integers(1, 600))
def test_pieces_join_back_and_each_fits_a_card_and_a_post(unit, times):
    text = unit * times
    pieces = split(text)

    if "|" not in text and "`" not in text:  # what is cut there gets its head or fence again
        assert "".join("".join(pieces).split()) == "".join(text.split())
    for piece in pieces:
        for form in text_forms(piece):
            if form.kind != "text":
                assert len(form.content.encode()) <= CARD_LIMIT


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (TABLE, 1),
        (f"{TABLE}\n{TABLE}", 2),
        ("a | b\n--- | ---\n1 | 2\n", 1),
        ("| a |\n|---|\n", 1),
        ("a\n---\n", 0),
        ("---\n\n---\n", 0),
        (f"```\n{TABLE}```\n{TABLE}", 1),
        (f"````\n```\n{TABLE}```\n{TABLE}````\n{TABLE}", 1),
        (f"~~~\n{TABLE}", 0),
    ],
)
def test_tables_are_counted_outside_of_code(text, count):
    assert count_tables(text) == count


def test_a_text_with_many_tables_is_cut_so_that_all_go_on_cards():
    text = f"Some words.\n\n{TABLE}\n" + ("word " * 60 + f"\n\n{TABLE}\n") * 20

    assert {text_forms(piece)[0].kind for piece in split(text)} == {"interactive"}
    assert sum(count_tables(piece) for piece in split(text)) == 21


def test_up_to_five_tables_go_on_a_card_and_more_into_a_post():
    assert [form.kind for form in text_forms(f"{TABLE}\n" * 5)] == ["interactive", "post", "text"]
    assert [form.kind for form in text_forms(f"{TABLE}\n" * 6)] == ["post", "text"]


@pytest.mark.parametrize("text", ["a < b", "<atom>", "<b>bold</b>", "x <personal>", "1 <at"])
def test_only_tags_that_call_people_are_touched(text):
    if text == "1 <at":
        assert neutralise(text) == "1 &#60;at"
    else:
        assert neutralise(text) == text


@given(st.text(st.sampled_from("<>/ atperson=\n"), max_size=30))
def test_no_calling_tag_survives(text):
    shown = "".join(neutralise(text).split()).lower()

    assert neutralise(neutralise(text)) == neutralise(text)
    assert "</at>" not in shown
    assert "<at>" not in shown
    assert "<person>" not in shown


@given(st.text(), st.text())
def test_keys_are_told_apart_and_short_enough(one, other):
    assert len(idempotency_key(one)) <= 50
    assert (idempotency_key(one) == idempotency_key(other)) == (one == other)


def paths(thread=None, reply_to=None):
    address = Address("feishu", "main", "oc_1", thread)
    calls = destinations(OutboundMessage(address, "k", OutboundText("x"), reply_to))
    return [(call.path.rpartition("/v1/")[2], (call.body or {}).get("reply_in_thread")) for call in calls]


def test_the_places_to_post_at_best_first():
    assert paths() == [("messages", None)]
    assert paths(reply_to="om_2") == [("messages/om_2/reply", False), ("messages", None)]
    assert paths("om_1") == [("messages/om_1/reply", True)]
    assert paths("om_1", "om_2") == [("messages/om_2/reply", True), ("messages/om_1/reply", True)]
    assert paths("om_1", "om_1") == [("messages/om_1/reply", True)]
    assert paths(reply_to="../x") == [("messages", None)]


@pytest.mark.parametrize(("chat", "thread"), [("", None), ("oc/1", None), ("oc_1", ""), ("oc_1", "a b")])
def test_an_address_that_cannot_be_is_permanent(chat, thread):
    with pytest.raises(PermanentSendError):
        destinations(OutboundMessage(Address("feishu", "main", chat, thread), "k", OutboundText("x")))


def test_content_is_json_that_keeps_letters_as_they_are():
    for form in text_forms("Grüße 世界 😀"):
        assert "世界" in form.content
        json.loads(form.content)
