"""Which call posts a message."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.errors import PermanentSendError
from channels.messages import Address, OutboundFile, OutboundMessage, OutboundText
from channels.telegram.render import MESSAGE_LIMIT, REPEAT_MARK, render, split
from channels.text import utf16_length


def text(content="hi", chat_id="501", thread=None, **more):
    return OutboundMessage(Address("telegram", "main", chat_id, thread), "k", OutboundText(content), **more)


def test_plain_text_has_no_parse_mode():
    call = render(text())

    assert (call.method, call.params) == ("sendMessage", {"chat_id": 501, "text": "hi"})


def test_a_reply_may_outlive_its_question():
    assert render(text(reply_to="42")).params["reply_parameters"] == {
        "message_id": 42,
        "allow_sending_without_reply": True,
    }
    assert "reply_parameters" not in render(text(reply_to="not-a-number")).params


@pytest.mark.parametrize(("thread", "sent"), [(None, None), ("1", None), ("2", 2), ("40", 40)])
def test_the_general_topic_is_not_named(thread, sent):
    assert render(text(thread=thread)).params.get("message_thread_id") == sent


def test_a_thread_of_another_platform_is_refused():
    with pytest.raises(PermanentSendError):
        render(text(thread="1700000000.0001"))


def test_channel_names_are_passed_on():
    assert render(text(chat_id="@news")).params["chat_id"] == "@news"


def test_a_file_goes_up_under_the_name_for_people():
    file = OutboundFile(Path("/data/x"), "Report \ud83d.pdf", "application/pdf")
    call = render(OutboundMessage(Address("telegram", "main", "-100500"), "k", file))

    assert (call.method, call.params) == ("sendDocument", {"chat_id": -100500})
    assert call.upload is not None
    assert (call.upload.field, call.upload.name) == ("document", "Report _.pdf")
    assert call.upload.mime == "application/pdf"


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=9000) | st.lists(st.sampled_from(["😀" * 900, "a" * 2500, " ", "\n\n"])).map("".join))
def test_a_piece_fits_one_message_with_the_mark(content):
    for piece in split(content):
        rendered = render(text(piece, possible_repeat=True)).params["text"]
        assert isinstance(rendered, str)
        assert rendered.startswith(REPEAT_MARK)
        assert utf16_length(rendered) <= MESSAGE_LIMIT
