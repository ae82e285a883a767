"""What is read from an event, and that nothing a server sends can do harm."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.feishu.normalize import (
    BotIdentity,
    Heard,
    Ignored,
    MalformedEventError,
    normalize,
    origin,
    parse,
)
from channels.messages import ChatKind

BOT = BotIdentity("ou_hart", "cli_hart")
PERSON = {"sender_id": {"open_id": "ou_ann", "union_id": "on_1", "user_id": None}, "sender_type": "user"}
US = {"key": "@_user_1", "id": {"open_id": "ou_hart", "user_id": ""}, "name": "Hart"}
BO = {"key": "@_user_2", "id": {"open_id": "ou_bo"}, "name": "Bo"}


def event(content, kind="text", sender=PERSON, **message):
    body = content if isinstance(content, str) else json.dumps(content)
    fields = {
        "message_id": "om_9",
        "create_time": "1700000000123",
        "chat_id": "oc_7",
        "chat_type": "group",
        "message_type": kind,
        "content": body,
    }
    return {
        "schema": "2.0",
        "header": {"event_id": "e1", "event_type": "im.message.receive_v1"},
        "event": {"sender": sender, "message": fields | message},
    }


def read(content, kind="text", **more):
    reading = normalize(event(content, kind, **more), "main", BOT)
    assert isinstance(reading, Heard)
    return reading.message


def said(text, *mentions):
    message = read({"text": text}, mentions=list(mentions))
    return message.text, message.addressed


def post(*lines, title=""):
    return read({"title": title, "content": list(lines)}, "post", mentions=[US, BO])


def test_all_fields_of_a_message():
    message = read({"text": "Hello"}, chat_type="p2p", parent_id="om_4", root_id="om_3", thread_id="omt_2")

    assert message.chat_kind is ChatKind.DIRECT
    assert message.sender.id == "ou_ann"
    assert message.reply_to == "om_4"
    assert message.address.platform_thread == "om_3"
    assert message.sent_at == datetime(2023, 11, 14, 22, 13, 20, 123000, tzinfo=UTC)
    assert message.addressed
    assert message.dedupe_key == "feishu:main:message:om_9"


def test_the_dedupe_key_is_that_of_the_message_not_of_the_event():
    first = event({"text": "a"})
    again = first | {"header": first["header"] | {"event_id": "e2"}}
    keys = [normalize(one, "main", BOT).message.dedupe_key for one in (first, again)]

    assert keys[0] == keys[1]
    assert read({"text": "a"}, message_id="om_10").dedupe_key != keys[0]
    assert normalize(first, "second", BOT).message.dedupe_key != keys[0]


@pytest.mark.parametrize(
    ("text", "left", "addressed"),
    [
        ("nothing for you", "nothing for you", False),
        ("@_user_1 do it", "do it", True),
        ("@_user_1, do it", "do it", True),
        ("@_user_1：做吧", "做吧", True),
        ("@_user_1做吧", "做吧", True),
        ("please @_user_1 do it", "please do it", True),
        ("do it, @_user_1", "do it,", True),
        ("@_user_1", "", True),
        ("@_user_1 /new", "/new", True),
        ("@_user_1 @_user_1 hi", "hi", True),
        ("@_user_2 do it", "@Bo do it", False),
        ("@_user_12 do it", "@_user_12 do it", False),
        ("@_user_2 and @_user_1", "@Bo and", True),
        ("@_all lunch", "@all lunch", False),
        ("@_all @_user_1 lunch", "@all lunch", True),
        ("@_allied forces", "@_allied forces", False),
        ("line one\n@_user_1\nline two", "line one\nline two", True),
        ("\x00 @_user_1 x", "\ufffd x", True),
        ("/new", "/new", False),
    ],
)
def test_in_a_group_our_name_is_noticed_and_taken_out(text, left, addressed):
    assert said(text, US, BO) == (left, addressed)


def test_names_of_others_stay_on_one_line_and_cannot_pose_as_ours():
    odd = {"key": "@_user_1", "id": {"open_id": "ou_x"}, "name": "Ha\nrt\u202e " + "x" * 500}
    nobody = {"key": "@_user_2", "name": ""}

    text, addressed = said("@_user_1 @_user_2", odd, nobody)

    assert text.startswith("@Ha rt")
    assert text.endswith(" @someone")
    assert "\n" not in text
    assert len(text) < 90
    assert not addressed


def test_a_mention_of_everyone_counts_only_where_configured():
    everyone = {"key": "@_user_1", "id": {"user_id": "all"}, "name": "all"}
    for text, mentions in (("@_all hi", []), ("@_user_1 hi", [everyone])):
        raw = event({"text": text}, mentions=mentions)
        assert not normalize(raw, "main", BOT).message.addressed
        assert normalize(raw, "main", BOT, all_is_us=True).message.addressed


@pytest.mark.parametrize(
    ("fields", "thread", "answers"),
    [
        ({}, None, ()),
        ({"parent_id": "om_2", "root_id": "om_1"}, None, ("om_2", "om_1")),
        ({"parent_id": "om_1", "root_id": "om_1"}, None, ("om_1",)),
        ({"parent_id": "", "root_id": ""}, None, ()),
        ({"parent_id": "om_2", "root_id": "om_1", "thread_id": "omt_1"}, "om_1", ("om_2", "om_1")),
        ({"thread_id": "omt_1"}, "om_9", ()),
    ],
)
def test_threads_and_what_is_answered(fields, thread, answers):
    reading = normalize(event({"text": "x"}, **fields), "main", BOT)

    assert reading.message.address.platform_thread == thread
    assert reading.answers == answers


def test_a_post_is_read_with_its_links_code_and_mentions():
    message = post(
        [{"tag": "text", "text": "see "}, {"tag": "a", "text": "this", "href": "https://x.example"}],
        [{"tag": "at", "user_id": "@_user_1", "user_name": "Hart"}, {"tag": "text", "text": " and "}],
        [{"tag": "at", "user_id": "@_user_2", "user_name": "Bo"}, {"tag": "emotion", "emoji_type": "SMILE"}],
        [{"tag": "code_block", "language": "PYTHON", "text": "print(1)\n"}],
        [{"tag": "hr"}, {"tag": "new_thing", "text": "?"}],
        title="Title",
    )

    assert message.text == (
        "Title\nsee [this](https://x.example)\nand \n@Bo:SMILE:\n```python\nprint(1)\n```\n---"
    )
    assert message.addressed


def test_a_post_in_languages_is_read_in_the_first():
    body = {
        "zh_cn": {"title": "", "content": [[{"tag": "md", "text": "**你好**"}]]},
        "en_us": {"content": []},
    }

    assert read(body, "post").text == "**你好**"


def test_pictures_and_films_of_a_post_are_attachments_in_order():
    message = post(
        [{"tag": "img", "image_key": "img_a"}],
        [{"tag": "text", "text": "x"}, {"tag": "media", "file_key": "file_b", "image_key": "img_c"}],
        [{"tag": "img", "image_key": "img_d"}],
    )

    assert [file.ref for file in message.attachments] == [
        "om_9/image/img_a",
        "om_9/file/file_b",
        "om_9/image/img_d",
    ]


@pytest.mark.parametrize(
    ("card", "text"),
    [
        (
            {
                "title": "Build",
                "elements": [[{"tag": "text", "text": "failed on "}, {"tag": "at", "user_name": "Bo"}]],
            },
            "Build\nfailed on\n@Bo",
        ),
        (
            {
                "schema": "2.0",
                "header": {"title": {"tag": "plain_text", "content": "Deploy"}},
                "body": {
                    "elements": [
                        {"tag": "markdown", "content": "**go?**"},
                        {
                            "tag": "button",
                            "text": {"tag": "plain_text", "content": "Yes"},
                            "value": {"text": "secret"},
                        },
                    ]
                },
            },
            "Deploy\n**go?**\nYes",
        ),
        ({"elements": []}, "[a card without text]"),
        ({"elements": [{"tag": "img", "img_key": "x"}], "extra": 5}, "[a card without text]"),
    ],
)
def test_a_card_is_read_as_its_words(card, text):
    assert read(card, "interactive").text == text


@pytest.mark.parametrize(
    ("kind", "content", "text"),
    [
        ("sticker", {"file_key": "f"}, "[a message of the kind sticker, which cannot be read here]"),
        ("share_chat", {"chat_id": "oc_1"}, "[a message of the kind share_chat, which cannot be read here]"),
        ("location", {"name": "Oslo"}, "[a place: Oslo]"),
        ("a\nb{}", {}, "[a message of the kind ab, which cannot be read here]"),
    ],
)
def test_other_kinds_say_what_they_are(kind, content, text):
    assert read(content, kind).text == text


@pytest.mark.parametrize("sender_type", ["app", "anonymous", "unknown", ""])
def test_only_people_are_heard(sender_type):
    assert isinstance(
        normalize(event({"text": "x"}, sender=PERSON | {"sender_type": sender_type}), "main", BOT), Ignored
    )


@pytest.mark.parametrize(
    "raw",
    [
        {"header": {"event_type": "im.message.message_read_v1"}},
        {"header": {"event_type": "x"}, "event": 5},
        {"uuid": "old", "type": "event_callback"},
        event({"text": "x"}, chat_type="something"),
    ],
)
def test_what_is_not_for_us_is_ignored(raw):
    assert isinstance(normalize(raw, "main", BOT), Ignored)


def press(value, **more):
    used = {
        "operator": {"open_id": "ou_ann"},
        "action": {"value": value, "tag": "button"},
        "context": {"open_message_id": "om_5", "open_chat_id": "oc_7"},
    }
    return {"header": {"event_id": "e5", "event_type": "card.action.trigger"}, "event": used | more}


def test_a_press_names_the_button_the_card_and_who_pressed():
    message = normalize(press({"hart": "abc", "thread": "om_1"}), "main", BOT).message

    assert message.action == "abc"
    assert message.text == ""
    assert message.message_id == "om_5"
    assert message.sender.id == "ou_ann"
    assert (message.address.chat_id, message.address.platform_thread) == ("oc_7", "om_1")
    assert message.dedupe_key == "feishu:main:press:e5"
    assert (
        normalize(press({"hart": "abc", "thread": "a/b"}), "main", BOT).message.address.platform_thread
        is None
    )


@pytest.mark.parametrize("value", [None, {}, "x", {"other": 1}, {"hart": 5}])
def test_what_is_pressed_on_a_card_of_another_make_is_ignored(value):
    assert isinstance(normalize(press(value), "main", BOT), Ignored)


@pytest.mark.parametrize(
    "raw",
    [
        None,
        [],
        7,
        {"header": None},
        {"header": {}},
        {"header": {"event_type": 5}},
        {"schema": "2.0"},
        event({"text": "x"}, message_id=""),
        event({"text": "x"}, message_id="om_1/../x"),
        event({"text": "x"}, message_id="om_1\n"),
        event({"text": "x"}, chat_id=5),
        event({"text": "x"}, thread_id="a b"),
        event({"text": "x"}, sender={"sender_type": "user", "sender_id": None}),
        event({"text": "x"}, sender=None),
        event("not json"),
        event("[" * 100_000),
        event("[]"),
        event({"text": 5}),
        event({}),
        event({"image_key": "../x"}, "image"),
        event({"file_key": "k"}, "file"),
        event({"content": "x"}, "post"),
        event({"text": "x"}, mentions=[{"key": 5}]),
        press({"hart": "a"}, operator={}),
        press({"hart": "a"}, context={"open_message_id": "om_1"}),
    ],
)
def test_what_is_not_as_documented_is_malformed(raw):
    with pytest.raises(MalformedEventError):
        normalize(raw, "main", BOT)


def test_no_fault_repeats_what_was_written():
    with pytest.raises(MalformedEventError) as caught:
        normalize(event({"text": "x"}, message_id="secret words"), "main", BOT)

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("time", ["", "x", "-5", "9" * 16, "99999999999999", "²"])
def test_an_odd_time_is_no_time_or_a_time(time):
    sent_at = read({"text": "x"}, create_time=time).sent_at

    assert sent_at is None or sent_at.tzinfo is not None


def test_an_origin_is_found_where_there_is_one():
    assert origin(event({"text": "x"}), "main").chat_id == "oc_7"
    for raw in (None, 5, {}, {"event": {"message": {"chat_id": 5}}}):
        assert origin(raw, "main").chat_id == ""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)
KINDS = ["text", "post", "image", "file", "audio", "media", "interactive", "location", "merge_forward", "x"]
KEYS = ["text", "title", "content", "elements", "tag", "user_id", "image_key", "file_key", "header", "body"]
CONTENT = st.recursive(
    st.none() | st.integers() | st.text(max_size=20) | st.sampled_from(["at", "text", "img", "media", "a"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=30,
)


@given(JSON)
def test_any_press_is_read_ignored_or_malformed(value):
    try:
        normalize(press(value), "main", BOT)
    except MalformedEventError:
        return


@given(JSON)
def test_any_json_is_read_ignored_or_malformed(raw):
    try:
        normalize(raw, "main", BOT)
    except MalformedEventError:
        return


@settings(max_examples=300)
@given(st.sampled_from(KINDS), CONTENT)
def test_any_content_is_read_or_malformed_and_can_be_stored(kind, content):
    try:
        message = read(content, kind)
    except MalformedEventError:
        return
    assert "\x00" not in message.text
    message.text.encode()
    for file in message.attachments:
        assert file.name
        file.name.encode()


@given(st.binary(max_size=100))
def test_any_bytes_are_json_or_malformed(data):
    try:
        parse(data)
    except MalformedEventError:
        return


@given(st.text(st.sampled_from("@_user12al \n,x：\x00"), max_size=40))
def test_reading_mentions_never_leaves_a_mark_of_ours(text):
    shown, _ = said(text, US, BO)

    assert "\x00" not in shown
    assert shown == shown.strip()
