"""What is sent arrives once, or its failure says whether it may have arrived."""

import asyncio
import os
import time

import pytest

from channels.errors import AmbiguousSendError, PermanentSendError, TransientSendError
from channels.messages import Address, OutboundFile, OutboundMessage, OutboundText
from channels.telegram.render import REPEAT_MARK
from channels.views import Phase, RunView
from tests.emulators.telegram import (
    DropAfter,
    DropBefore,
    Hang,
    RawAnswer,
    Refuse,
    Slow,
    bad_gateway,
    too_many,
)

UNAUTHORIZED = Refuse(401, "Unauthorized")


@pytest.fixture
def chat(tg):
    return tg.private_chat(tg.user(501, "Ann"))


def to(chat, content, thread=None, **more):
    address = Address("telegram", "main", str(chat.id), thread)
    content = OutboundText(content) if isinstance(content, str) else content
    return OutboundMessage(address, "key-1", content, **more)


async def test_text_arrives_formatted(tg, channel, chat):
    receipt = await channel.send(to(chat, "Grüße, 世界 <b>&amp; **bold**</b> 😀 `x_y`"))

    assert tg.sent[0].text == "Grüße, 世界 <b>& bold</b> 😀 x_y"
    assert tg.messages[chat.id, tg.sent[0].message_id]["entities"] == [
        {"type": "bold", "offset": 15, "length": 4},
        {"type": "code", "offset": 27, "length": 3},
    ]
    assert receipt.message_id == str(tg.sent[0].message_id)


async def test_an_answer_points_at_its_question_and_survives_its_removal(tg, channel, chat):
    question = tg.say(chat, tg.users[501], "?")

    await channel.send(to(chat, "first", reply_to=str(question["message_id"])))
    del tg.messages[chat.id, question["message_id"]]
    await channel.send(to(chat, "second", reply_to=str(question["message_id"])))

    assert [sent.reply_to for sent in tg.sent] == [question["message_id"], None]


async def test_formatting_that_is_refused_goes_out_as_plain_text(tg, channel, chat):
    for text in ("can't parse entities: Unsupported start tag", "ENTITY_BOUNDS_INVALID", "Wrong HTTP URL"):
        tg.faults.add("sendMessage", Refuse(400, f"Bad Request: {text}"))
        await channel.send(to(chat, "**one** [a](https://example.com)", possible_repeat=True))

    assert {sent.text for sent in tg.sent} == {f"{REPEAT_MARK}\n\n**one** [a](https://example.com)"}
    assert len(tg.sent) == 3


async def test_other_refusals_are_not_tried_twice(tg, channel, chat):
    tg.faults.add("sendMessage", Refuse(400, "Bad Request: chat not found"))
    with pytest.raises(PermanentSendError):
        await channel.send(to(chat, "**one**"))
    tg.faults.add("sendMessage", Refuse(400, "Bad Request: can't parse entities"))
    with pytest.raises(PermanentSendError):
        await channel.send(to(chat, "no formatting"))

    assert tg.count("sendMessage") == 2


async def test_a_long_answer_arrives_piece_by_piece_with_its_formatting(tg, channel, chat):
    code = [f"call_{number}(😀)" for number in range(900)]
    for piece in channel.split("# Code\n\n```py\n" + "\n".join(code) + "\n```\n\n**Done.**"):
        await channel.send(to(chat, piece, possible_repeat=True))

    shown = [line for sent in tg.sent for line in sent.text.split("\n") if line.startswith("call_")]
    kinds = [
        [entity["type"] for entity in tg.messages[chat.id, sent.message_id]["entities"]] for sent in tg.sent
    ]
    assert shown == code
    assert kinds == [["bold", "underline", "pre"], ["pre"], ["pre", "bold"]]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (DropBefore(), AmbiguousSendError),
        (DropAfter(), AmbiguousSendError),
        (bad_gateway(), AmbiguousSendError),
        (bad_gateway(500), AmbiguousSendError),
        (bad_gateway(408), AmbiguousSendError),
        (Refuse(500, "Internal Server Error: restart"), AmbiguousSendError),
        (RawAnswer(b"<html>fine</html>"), AmbiguousSendError),
        (RawAnswer(b'{"ok":true,"result":{}}'), AmbiguousSendError),
        (RawAnswer(b"[" * 100_000), AmbiguousSendError),
        (bad_gateway(404), TransientSendError),
        (RawAnswer(b"", 302), TransientSendError),
        (UNAUTHORIZED, TransientSendError),
        (Refuse(400, "Bad Request: TOPIC_CLOSED"), PermanentSendError),
        (Refuse(403, "Forbidden: bot was kicked from the supergroup chat"), PermanentSendError),
        (Refuse(404, "Not Found"), PermanentSendError),
        (Refuse(413, "Request Entity Too Large"), PermanentSendError),
    ],
    ids=lambda value: repr(value)[:60] if not isinstance(value, type) else value.__name__,
)
async def test_a_failure_says_what_to_do_next(fault, error, tg, channel, chat):
    tg.faults.add("sendMessage", fault)

    with pytest.raises(error):
        await channel.send(to(chat, "hello"))


async def test_a_message_taken_without_an_answer_is_ambiguous_and_was_posted(tg, channel, chat):
    tg.faults.add("sendMessage", DropAfter())

    with pytest.raises(AmbiguousSendError):
        await channel.send(to(chat, "hello"))

    assert [sent.text for sent in tg.sent] == ["hello"]


async def test_no_failed_send_is_repeated_behind_our_back(tg, channel, chat):
    for fault in (DropBefore(), DropAfter(), bad_gateway(), too_many(1)):
        tg.faults.add("sendMessage", fault)
        with pytest.raises((AmbiguousSendError, TransientSendError)):
            await channel.send(to(chat, "hello"))

    assert tg.count("sendMessage") == 4


async def test_no_connection_means_surely_not_posted(tg, channel, chat):
    async with tg.offline():
        with pytest.raises(TransientSendError) as caught:
            await channel.send(to(chat, "hello"))

    assert caught.value.retry_after is None
    await channel.send(to(chat, "hello again"))
    assert [sent.text for sent in tg.sent] == ["hello again"]


async def test_silence_after_the_request_is_ambiguous(tg, build, chat):
    tg.faults.add("sendMessage", Hang())

    with pytest.raises(AmbiguousSendError):
        await build(response_seconds=0.2).send(to(chat, "hello"))


async def test_a_slow_answer_is_still_an_answer(tg, build, chat):
    tg.faults.add("sendMessage", Slow(0.4))

    await build(response_seconds=3).send(to(chat, "hello"))

    assert len(tg.sent) == 1


async def test_a_blocked_bot_or_unknown_chat_is_permanent(tg, channel, chat):
    tg.blocked.add(chat.id)
    with pytest.raises(PermanentSendError, match="blocked by the user"):
        await channel.send(to(chat, "hello"))
    with pytest.raises(PermanentSendError, match="chat not found"):
        await channel.send(OutboundMessage(Address("telegram", "main", "12345"), "k", OutboundText("x")))
    with pytest.raises(PermanentSendError, match="topic"):
        await channel.send(to(chat, "hello", thread="not-a-topic"))


async def test_a_group_that_became_a_supergroup_still_gets_the_message_once(tg, channel):
    old = tg.group("Ops", basic=True)
    new = tg.migrate(old)

    await channel.send(to(old, "hello"))

    assert [(sent.chat_id, sent.text) for sent in tg.sent] == [(new.id, "hello")]


async def test_sends_do_not_wait_behind_the_long_poll_or_each_other(tg, build, chat, listening):
    channel = build(poll_seconds=20)
    async with listening(channel):
        await tg.wait_for(lambda: tg.count("getUpdates") == 1)
        tg.faults.add("sendMessage", Slow(0.5), 30)
        started = time.monotonic()
        await asyncio.gather(*(channel.send(to(chat, f"{number}")) for number in range(30)))

    assert time.monotonic() - started < 5
    assert len(tg.sent) == 30


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ('a "quoted"\r\nname; filename=b.txt', "a _quoted___name; filename=b.txt"),
    ],
)
async def test_a_file_with_a_hostile_name_arrives_whole(name, shown, tg, channel, chat, tmp_path):
    path = tmp_path / "on-disk"
    path.write_bytes(os.urandom(300_000))

    await channel.send(to(chat, OutboundFile(path, name, "application/pdf")))

    assert tg.sent[0].file_name == shown
    assert tg.sent[0].document == path.read_bytes()
    assert tg.sent[0].text == ""


async def test_a_file_that_may_be_a_repeat_says_so_in_its_caption(tg, channel, chat, tmp_path):
    (tmp_path / "f").write_bytes(b"data")

    await channel.send(to(chat, OutboundFile(tmp_path / "f", "f.txt"), possible_repeat=True))

    assert tg.sent[0].text == REPEAT_MARK


async def test_a_file_taken_without_an_answer_is_ambiguous(tg, channel, chat, tmp_path):
    (tmp_path / "f").write_bytes(b"data" * 50_000)
    tg.faults.add("sendDocument", DropAfter())

    with pytest.raises(AmbiguousSendError):
        await channel.send(to(chat, OutboundFile(tmp_path / "f", "f.bin")))

    assert len(tg.sent) == 1


async def test_typing_shows_at_most_every_four_seconds_in_a_chat(tg, build, chat):
    now = [100.0]
    channel = build(monotonic=lambda: now[0])
    other = tg.private_chat(tg.user(502, "Ben"))
    here, there = (Address("telegram", "main", str(where.id)) for where in (chat, other))
    view = RunView("r1", None)
    for moment, address in [
        (100, here),
        (101, here),
        (103.9, here),
        (103.9, there),
        (104, here),
        (105, here),
    ]:
        now[0] = moment
        await channel.show(address, view)
    await channel.show(there, RunView("r1", None, Phase.DONE))

    actions = [call.params for call in tg.calls if call.method == "sendChatAction"]
    assert [(action["chat_id"], action["action"]) for action in actions] == [
        ("501", "typing"),
        ("502", "typing"),
        ("501", "typing"),
    ]


async def test_typing_in_the_general_topic_names_it(tg, channel):
    forum = tg.group("Forum", forum=True)

    await channel.show(Address("telegram", "main", str(forum.id), "1"), RunView("r1", None))

    assert [call.params["message_thread_id"] for call in tg.calls] == ["1"]


async def test_typing_never_raises_and_obeys_flood_control(tg, build, chat):
    now = [100.0]
    channel = build(monotonic=lambda: now[0])
    here = Address("telegram", "main", str(chat.id))
    for fault in (too_many(60), bad_gateway(), DropBefore(), RawAnswer(b"?"), UNAUTHORIZED):
        tg.faults.add("sendChatAction", fault)
    await channel.show(here, RunView("r1", None))
    now[0] = 159.0
    await channel.show(here, RunView("r1", None))
    assert tg.count("sendChatAction") == 1

    for moment in (160, 170, 180, 190):
        now[0] = moment
        await channel.show(here, RunView("r1", None))
    assert tg.count("sendChatAction") == 5
    await channel.show(Address("telegram", "main", "no-such-chat", "no-topic"), RunView("r1", None))
    async with tg.offline():
        now[0] = 300
        await channel.show(here, RunView("r1", None))
