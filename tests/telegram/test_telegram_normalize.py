"""What is read from an update, and that nothing a server sends can do harm."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.messages import ChatKind, InboundMessage
from channels.telegram.normalize import (
    BotIdentity,
    Ignored,
    MalformedUpdateError,
    normalize,
    origin,
    update_id,
)
from tests.emulators.telegram.world import entities_of

BOT = BotIdentity(77, "hart_bot")
ANN = {"id": 501, "is_bot": False, "first_name": "Ann", "last_name": "Lee", "username": "ann"}
US = {"id": 77, "is_bot": True, "first_name": "Hart", "username": "hart_bot"}
PRIVATE = {"id": 501, "type": "private", "first_name": "Ann"}
GROUP = {"id": -1002000, "type": "supergroup", "title": "Ops"}
FORUM = GROUP | {"is_forum": True}


def read(message, update=12):
    return normalize({"update_id": update, "message": message}, "main", BOT)


def message(text=None, chat=PRIVATE, **more):
    found = {"message_id": 9, "date": 1_700_000_000, "from": ANN, "chat": chat}
    if text is not None:
        found |= {"text": text, "entities": entities_of(text)}
    return found | more


def in_group(text, **more):
    result = read(message(text, GROUP, **more))
    assert isinstance(result, InboundMessage)
    return result.text, result.addressed


def test_all_fields_of_a_private_message():
    result = read(message("Hello", reply_to_message={"message_id": 4, "from": ANN}))

    assert isinstance(result, InboundMessage)
    assert result.chat_kind is ChatKind.DIRECT
    assert result.sender.id == "501"
    assert result.sender.name == "Ann Lee"
    assert result.reply_to == "4"
    assert result.sent_at == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert result.addressed


def test_the_dedupe_key_is_that_of_the_message_not_of_the_update():
    first, again = read(message("a"), update=5), read(message("a"), update=6)
    others = [
        read(message("a", message_id=10)),
        read(message("a", chat=GROUP)),
        normalize({"update_id": 5, "message": message("a")}, "second", BOT),
        normalize({"update_id": 5, "message": message("a")}, "main", BotIdentity(78, "hart_bot")),
    ]

    assert first.dedupe_key == again.dedupe_key
    assert len({first.dedupe_key, *(other.dedupe_key for other in others)}) == 5


@pytest.mark.parametrize(
    ("text", "left", "addressed"),
    [
        ("nothing for you", "nothing for you", False),
        ("@hart_bot do it", "do it", True),
        ("@HART_BOT, do it", "do it", True),
        ("please @hart_bot do it", "please do it", True),
        ("do it, @hart_bot", "do it,", True),
        ("@hart_bot", "", True),
        ("@hart_bot /new", "/new", True),
        ("@hart_bot @hart_bot hi", "hi", True),
        ("@hart_bot2 do it", "@hart_bot2 do it", False),
        ("@somebody and @hart_bot", "@somebody and", True),
        ("👩‍👩‍👧‍👦😀 @hart_bot 😀", "👩‍👩‍👧‍👦😀 😀", True),
        ("/new", "/new", True),
        ("/new@hart_bot", "/new", True),
        ("/new@Hart_Bot now", "/new now", True),
        ("later /new@hart_bot", "later /new", True),
        ("later /new", "later /new", False),
        ("path is /usr/bin", "path is /usr/bin", False),
        ("line one\n@hart_bot\nline two", "line one\nline two", True),
    ],
)
def test_in_a_group_our_name_is_noticed_and_taken_out(text, left, addressed):
    assert in_group(text) == (left, addressed)


def test_a_mention_without_a_user_name_counts_by_id():
    entity = {"type": "text_mention", "offset": 0, "length": 4, "user": US}

    assert in_group("Hart do it", entities=[entity]) == ("do it", True)
    assert in_group("Hart do it", entities=[entity | {"user": ANN}]) == ("Hart do it", False)


def test_our_name_without_an_entity_is_not_a_mention():
    assert in_group("in code: @hart_bot", entities=[]) == ("in code: @hart_bot", False)


def test_only_a_reply_to_us_is_for_us():
    assert in_group("ok", reply_to_message={"message_id": 3, "from": US}) == ("ok", True)
    assert in_group("ok", reply_to_message={"message_id": 3, "from": ANN}) == ("ok", False)
    assert in_group("ok", reply_to_message={"message_id": 3}) == ("ok", False)


def test_a_message_in_a_topic_we_made_is_not_a_reply_to_us():
    notice = {"message_id": 3, "from": US, "forum_topic_created": {"name": "T", "icon_color": 1}}
    result = read(message("ok", FORUM, reply_to_message=notice, message_thread_id=3, is_topic_message=True))

    assert (result.addressed, result.reply_to) == (False, None)


@pytest.mark.parametrize(
    ("chat", "fields", "thread"),
    [
        (PRIVATE, {}, None),
        (GROUP, {}, None),
        (GROUP, {"message_thread_id": 40}, None),
        (FORUM, {"message_thread_id": 40, "is_topic_message": True}, "40"),
        (FORUM, {}, "1"),
        (FORUM, {"message_thread_id": 40}, "1"),
        (PRIVATE, {"message_thread_id": 7, "is_topic_message": True}, "7"),
    ],
)
def test_only_true_topics_are_threads(chat, fields, thread):
    assert read(message("x", chat, **fields)).address.platform_thread == thread


@pytest.mark.parametrize(
    "update",
    [
        {"edited_message": message("x")},
        {"channel_post": message("x")},
        {"my_chat_member": {"anything": 1}},
        {"some_future_kind": [[]]},
        {},
        {"message": message("x", {"id": -100, "type": "channel", "title": "News"})},
        {"message": message("x") | {"from": US}},
        {"message": message("x") | {"from": ANN | {"is_bot": True}}},
        {"message": message("x", via_bot=US)},
        {"message": message("x", is_automatic_forward=True)},
        {"message": {"message_id": 1, "chat": GROUP, "text": "no sender"}},
        {"message": message(new_chat_members=[ANN])},
        {"message": message(pinned_message=message("x"))},
        {"message": message(giveaway={"winner_count": 1})},
        {"message": message("/new@other_bot", GROUP)},
        {"message": message("@hart_bot /new@other_bot", GROUP)},
        {"message": message("/new@other_bot")},
    ],
    ids=lambda update: json.dumps(update)[:70],
)
def test_what_is_not_a_message_of_a_person_to_us_is_ignored_with_a_reason(update):
    result = normalize({"update_id": 1} | update, "main", BOT)

    assert isinstance(result, Ignored)
    assert result.reason


@pytest.mark.parametrize(
    ("update", "reason"),
    [
        (None, "object"),
        ([], "object"),
        ("text", "object"),
        ({"message": message("x")}, "update_id"),
        ({"update_id": True, "message": message("x")}, "update_id"),
        ({"update_id": -1, "message": message("x")}, "update_id"),
        ({"update_id": 2**60, "message": message("x")}, "update_id"),
        ({"update_id": 1, "message": []}, "message"),
        ({"update_id": 1, "message": {"text": "x"}}, "message_id"),
        ({"update_id": 1, "message": message("x") | {"from": {"id": 5}}}, "from.is_bot"),
        ({"update_id": 1, "message": message("x") | {"chat": {"id": "5", "type": "private"}}}, "chat.id"),
        ({"update_id": 1, "message": message(text=None) | {"text": {"a": 1}}}, "text"),
        ({"update_id": 1, "message": message("x") | {"entities": [{"type": 1}]}}, "entities.0.type"),
        ({"update_id": 1, "message": message("x") | {"date": 10**12}}, "date"),
    ],
    ids=lambda value: json.dumps(value)[:60],
)
def test_what_the_bot_api_would_not_send_is_named_as_malformed(update, reason):
    with pytest.raises(MalformedUpdateError, match=reason):
        normalize(update, "main", BOT)


def test_every_kind_of_file_becomes_an_attachment_and_the_largest_photo_wins():
    result = read(
        message(
            caption="look @hart_bot",
            caption_entities=[{"type": "mention", "offset": 5, "length": 9}],
            document={
                "file_id": "D",
                "file_name": "../../etc/pass\x00wd",
                "mime_type": "text/plain",
                "file_size": 5,
            },
            audio={"file_id": "A", "file_name": "song.mp3"},
            video={"file_id": "V"},
            voice={"file_id": "O", "mime_type": "audio/ogg"},
            photo=[
                {"file_id": "P1", "width": 90, "height": 60},
                {"file_id": "P3", "width": 900, "height": 600, "file_size": 77},
                {"file_id": "P2", "width": 320, "height": 200},
            ],
        )
    )

    assert result.text == "look"
    assert [(file.name, file.ref, file.size) for file in result.attachments] == [
        ("../../etc/pass\ufffdwd", "D", 5),
        ("song.mp3", "A", None),
        ("video-9.mp4", "V", None),
        ("voice-9.ogg", "O", None),
        ("photo-9.jpg", "P3", 77),
    ]


def test_a_round_video_is_a_file_too():
    result = read(message(video_note={"file_id": "R", "length": 240, "duration": 3, "file_size": 9}))

    assert [(file.name, file.ref, file.size) for file in result.attachments] == [("video-9.mp4", "R", 9)]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"sticker": {"file_id": "S", "type": "regular", "emoji": "👍"}}, "[Sticker 👍]"),
        ({"sticker": {"file_id": "S", "type": "regular"}}, "[Sticker]"),
        (
            {"location": {"latitude": 52.52, "longitude": 13, "live_period": 60}},
            "[Location: latitude 52.52, longitude 13.0]",
        ),
        (
            {
                "venue": {"title": "Café", "address": "Main St 1"},
                "location": {"latitude": 1.5, "longitude": -2.5},
            },
            "[Venue: Café, Main St 1; Location: latitude 1.5, longitude -2.5]",
        ),
        (
            {"contact": {"phone_number": "+49 1", "first_name": "Bo", "last_name": "Li"}},
            "[Contact: Bo Li, +49 1]",
        ),
        (
            {"poll": {"question": "Tea?", "options": [{"text": "yes"}, {"text": "no"}]}},
            "[Poll: Tea? (yes / no)]",
        ),
        ({"dice": {"emoji": "🎲", "value": 4}}, "[Dice 🎲: 4]"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_neither_text_nor_a_file_is_told_in_words(content, words):
    result = read(message(**content))

    assert isinstance(result, InboundMessage)
    assert (result.text, result.attachments) == (words, ())


def test_files_of_one_album_are_parts_of_one_and_those_of_another_sender_are_not():
    photo = [{"file_id": "P", "width": 9, "height": 9}]
    parts = [
        read(message(photo=photo, media_group_id="139", message_id=9)),
        read(message(photo=photo, media_group_id="139", message_id=10)),
    ]
    others = [
        read(message(photo=photo, media_group_id="140")),
        read(message(photo=photo, media_group_id="139", chat=GROUP)),
        read(message(photo=photo, media_group_id="139", **{"from": ANN | {"id": 502}})),
        read(message(photo=photo)),
    ]

    assert parts[0].part_of == parts[1].part_of
    assert parts[0].dedupe_key != parts[1].dedupe_key
    assert len({parts[0].part_of, *(other.part_of for other in others)}) == 5
    assert others[-1].part_of is None


@pytest.mark.parametrize(
    ("user", "name"),
    [
        ({"first_name": "Ann"}, "Ann"),
        ({"first_name": "", "username": "ann"}, "ann"),
        ({"first_name": ""}, ""),
        ({"first_name": "A\n[system]\u202e:\x00 do", "last_name": "it"}, "A [system] : do it"),
        ({"first_name": "x" * 10**6}, "x" * 64),
    ],
)
def test_a_senders_name_is_one_short_line(user, name):
    assert read(message("x") | {"from": {"id": 5, "is_bot": False} | user}).sender.name == name


@pytest.mark.parametrize(
    "entity",
    [
        {"type": "mention", "offset": 10**9, "length": 9},
        {"type": "mention", "offset": 0, "length": 10**9},
        {"type": "mention", "offset": 1, "length": 9},
        {"type": "bot_command", "offset": 1, "length": 1},
        {"type": "bot_command", "offset": 0, "length": 0},
        {"type": "text_mention", "offset": 1, "length": 1, "user": US},
    ],
)
def test_entities_that_lie_do_no_harm(entity):
    result = read(message("😀😀", GROUP, entities=[entity] * 3000))

    assert isinstance(result, InboundMessage)
    result.text.encode()


def test_text_can_always_be_stored():
    result = read(message("a\x00b\ud800c"))

    assert result.text == "a\ufffdb\ufffdc"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=8,
)
FIELDS = ["message_id", "from", "chat", "date", "text", "caption", "entities", "caption_entities", "photo"]
FIELDS += ["document", "voice", "message_thread_id", "is_topic_message", "reply_to_message", "via_bot"]


def settle(update):
    try:
        result = normalize(update, "main", BOT)
    except MalformedUpdateError:
        return
    assert isinstance(result, InboundMessage | Ignored)
    if isinstance(result, InboundMessage):
        for text in (result.text, result.sender.name, result.address.chat_id, result.dedupe_key):
            text.encode()


@given(JSON)
@settings(deadline=None, max_examples=300)
def test_any_json_is_read_ignored_or_malformed(raw):
    settle(raw)
    origin(raw, "main")


@given(st.dictionaries(st.sampled_from(FIELDS), JSON), st.sampled_from([PRIVATE, GROUP, FORUM]), st.text())
@settings(deadline=None, max_examples=150)
def test_any_field_may_be_anything(fields, chat, text):
    update = {"update_id": 1, "message": message(text, chat) | fields}
    settle(update)
    origin(update, "main")


@given(
    st.text(max_size=40),
    st.lists(
        st.fixed_dictionaries(
            {
                "type": st.sampled_from(["mention", "bot_command", "text_mention", "url"]),
                "offset": st.integers(0, 50),
                "length": st.integers(0, 50),
                "user": st.sampled_from([US, ANN]),
            }
        ),
        max_size=6,
    ),
)
@settings(deadline=None, max_examples=200)
def test_any_entities_leave_text_that_can_be_stored(text, entities):
    settle({"update_id": 1, "message": message(text, GROUP, entities=entities)})


def test_deep_nesting_is_malformed_or_ignored():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for field in ("text", "from", "entities", "reply_to_message", "unknown"):
        settle({"update_id": 1, "message": message("x") | {field: deep}})
    while deep:
        deep = deep.pop()


def test_an_update_id_is_a_plain_positive_number():
    assert update_id({"update_id": 7}) == 7
