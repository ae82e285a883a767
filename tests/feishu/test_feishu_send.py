"""What is sent arrives once and in its place, or its failure says whether it may have arrived."""

import asyncio
import json
import os

import pytest

from channels.budgets import FEISHU
from channels.errors import AmbiguousSendError, PermanentSendError, TransientSendError
from channels.feishu.render import CARD_LIMIT
from channels.messages import Address, Button, OutboundFile, OutboundMessage, OutboundText
from channels.pacing import Limit, Per
from channels.views import Phase, RunView
from tests.emulators.feishu import (
    DropAfter,
    DropBefore,
    Hang,
    RawAnswer,
    Refuse,
    Slow,
    bad_gateway,
    too_many,
)

PNG = b"\x89PNG\r\n\x1a\n" + b"picture" * 100
TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n\n"


def to(chat, content, key="key-1", thread=None, **more):
    address = Address("feishu", "main", chat.id, thread)
    content = OutboundText(content) if isinstance(content, str) else content
    return OutboundMessage(address, key, content, **more)


async def test_text_arrives_as_a_card_with_its_markdown(fs, channel, chat):
    receipt = await channel.send(to(chat, "**Grüße**, 世界 `code` 😀\n\n- one"))

    (sent,) = fs.sent
    assert (sent.kind, sent.text) == ("interactive", "**Grüße**, 世界 `code` 😀\n\n- one")
    assert receipt.message_id == sent.message_id
    assert (sent.method, sent.chat_id) == ("create", chat.id)
    assert sent.content["schema"] == "2.0"


async def test_an_answer_points_at_its_question_and_survives_its_removal(fs, channel, chat, ann):
    question = fs.say(chat, ann, "?")

    await channel.send(to(chat, "first", "k1", reply_to=question.id))
    fs.recall(question.id)
    await channel.send(to(chat, "second", "k2", reply_to=question.id))

    assert [(sent.method, sent.reply_to, sent.in_thread) for sent in fs.sent] == [
        ("reply", question.id, False),
        ("create", None, False),
    ]


async def test_what_belongs_into_a_thread_stays_there(fs, channel, ann):
    group = fs.group("Ops")
    root = fs.say(group, ann, "@Hart begin")
    in_thread = fs.say(group, ann, "@Hart go on", reply_to=root.id, in_thread=True)

    await channel.send(to(group, "with a question", "k1", root.id, reply_to=in_thread.id))
    await channel.send(to(group, "without one", "k2", root.id))
    fs.recall(in_thread.id)
    await channel.send(to(group, "its question is gone", "k3", root.id, reply_to=in_thread.id))
    fs.recall(root.id)
    with pytest.raises(PermanentSendError):
        await channel.send(to(group, "all is gone", "k4", root.id, reply_to=in_thread.id))

    assert {sent.thread_id for sent in fs.sent} == {in_thread.thread_id}
    assert [sent.reply_to for sent in fs.sent] == [in_thread.id, root.id, root.id]
    assert all(sent.in_thread for sent in fs.sent)


async def test_the_same_delivery_sent_twice_is_one_message(fs, channel, chat):
    first = await channel.send(to(chat, "once", "run:1"))
    again = await channel.send(to(chat, "once", "run:1", possible_repeat=True))
    other = await channel.send(to(chat, "once", "run:2"))

    assert first == again != other
    assert len(fs.sent) == 2
    assert all(0 < len(sent.uuid) <= 50 for sent in fs.sent)


@pytest.mark.parametrize("unit", ['quote " and \\ and\n', "<at "])
async def test_every_piece_of_a_long_text_is_taken_as_a_card(unit, fs, channel, chat):
    text = unit * (200_000 // len(unit.encode()))
    pieces = channel.split(text)
    for number, piece in enumerate(pieces):
        await channel.send(to(chat, piece, f"k{number}"))

    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert {sent.kind for sent in fs.sent} == {"interactive"}
    assert all(len(json.dumps(sent.content, ensure_ascii=False).encode()) <= CARD_LIMIT for sent in fs.sent)


async def test_more_tables_than_a_card_takes_go_out_as_a_post(fs, channel, chat):
    await channel.send(to(chat, TABLE * 5, "k1"))
    await channel.send(to(chat, TABLE * 6, "k2"))

    assert [sent.kind for sent in fs.sent] == ["interactive", "post"]
    assert fs.sent[1].text == TABLE * 6


async def test_a_refused_card_loses_its_buttons_and_not_its_words(fs, channel, chat):
    content = OutboundText("Write /yes or /no", (Button("1", "Yes " + "x" * 500),))
    fs.faults.add("create", Refuse(230099, "no"))
    await channel.send(to(chat, content, "k1"))
    await channel.send(to(chat, content, "k2"))

    assert [(sent.kind, sent.text) for sent in fs.sent] == [
        ("post", "Write /yes or /no"),
        ("interactive", "Write /yes or /no"),
    ]
    assert len(fs.sent[1].content["body"]["elements"][1]["text"]["content"]) == 100


@pytest.mark.parametrize("code", [230099, 230001, 230025, 230028])
async def test_a_refused_card_goes_out_more_simply(code, fs, channel, chat):
    fs.faults.add("create", Refuse(code, "Failed to create card content"))
    await channel.send(to(chat, "first", "k1"))
    fs.faults.add("create", Refuse(code, "no"), 2)
    await channel.send(to(chat, "second", "k2"))

    assert [(sent.kind, sent.text) for sent in fs.sent] == [("post", "first"), ("text", "second")]


@pytest.mark.parametrize(
    "tag",
    [
        '<at user_id="all"></at>',
        "<at id=all></at>",
        '<AT user_id="ou_1">x</AT>',
        "< at ids='ou_1,ou_2'></at>",
        "<\nat id=all></at>",
        "<person id='ou_1'></person>",
    ],
)
async def test_no_answer_can_call_people(tag, fs, channel, chat):
    for number in range(3):
        for _ in range(number):
            fs.faults.add("create", Refuse(230099, "no"))
        await channel.send(to(chat, f"x {tag} y", f"k{number}"))

    for sent in fs.sent:
        raw = json.dumps(sent.content, ensure_ascii=False).lower()
        assert "<at" not in raw
        assert "<person" not in raw
        assert "< at" not in raw
        assert "<\\nat" not in raw
    assert [sent.kind for sent in fs.sent] == ["interactive", "post", "text"]


REFUSALS = [
    (too_many(), TransientSendError),
    (too_many(7, 400), TransientSendError),
    (Refuse(230020, "This operation triggers the frequency limit."), TransientSendError),
    (Refuse(230049, "The message is being sent."), TransientSendError),
    (bad_gateway(404), TransientSendError),
    (RawAnswer(b"", 302), TransientSendError),
    (DropBefore(), AmbiguousSendError),
    (DropAfter(), AmbiguousSendError),
    (bad_gateway(), AmbiguousSendError),
    (bad_gateway(504), AmbiguousSendError),
    (bad_gateway(408), AmbiguousSendError),
    (Refuse(2200, "Internal Error", 500), AmbiguousSendError),
    (Refuse(1500, "internal error"), AmbiguousSendError),
    (RawAnswer(b"<html>fine</html>"), AmbiguousSendError),
    (RawAnswer(b'{"code":0,"data":{}}'), AmbiguousSendError),
    (RawAnswer(b"[" * 100_000), AmbiguousSendError),
    (bad_gateway(413), PermanentSendError),
    (Refuse(230002, "The bot can not be outside the group."), PermanentSendError),
    (Refuse(230005, "gone"), PermanentSendError),
    (Refuse(230006, "Bot ability is not activated."), PermanentSendError),
    (Refuse(230013, "Bot has NO availability to this user."), PermanentSendError),
    (Refuse(230017, "Bot is not the owner of the resource."), PermanentSendError),
    (Refuse(230018, "Forbidden by the group."), PermanentSendError),
    (Refuse(230021, "too long"), PermanentSendError),
    (Refuse(230022, "The content of the message contains sensitive information."), PermanentSendError),
    (Refuse(99991672, "Access denied. One of the following scopes is required"), PermanentSendError),
]


@pytest.mark.parametrize(("fault", "error"), REFUSALS, ids=lambda value: str(value)[:60])
async def test_a_failure_says_what_to_do_next(fault, error, fs, channel, chat):
    fs.faults.add("create", fault)

    with pytest.raises(error):
        await channel.send(to(chat, "hello"))


async def test_a_message_taken_without_an_answer_is_ambiguous_and_sent_again_it_is_still_one(
    fs, channel, chat
):
    fs.faults.add("create", DropAfter())
    with pytest.raises(AmbiguousSendError):
        await channel.send(to(chat, "hello"))
    await channel.send(to(chat, "hello"))

    assert [sent.text for sent in fs.sent] == ["hello"]


async def test_no_failed_send_is_repeated_behind_our_back(fs, channel, chat):
    for fault in (DropBefore(), DropAfter(), bad_gateway(), too_many(1)):
        fs.faults.add("create", fault)
        with pytest.raises((AmbiguousSendError, TransientSendError)):
            await channel.send(to(chat, "hello"))

    assert fs.count("create") == 4


async def test_no_connection_means_surely_not_posted(fs, channel, chat):
    async with fs.offline():
        with pytest.raises(TransientSendError) as caught:
            await channel.send(to(chat, "hello"))

    assert caught.value.retry_after is None
    await channel.send(to(chat, "hello again"))
    assert [sent.text for sent in fs.sent] == ["hello again"]


async def test_silence_after_the_request_is_ambiguous(fs, build, chat):
    fs.faults.add("create", Hang())

    with pytest.raises(AmbiguousSendError):
        await build(response_seconds=0.2).send(to(chat, "hello"))


async def test_a_slow_answer_is_still_an_answer(fs, build, chat):
    fs.faults.add("create", Slow(0.4))

    await build(response_seconds=3).send(to(chat, "hello"))

    assert len(fs.sent) == 1


async def test_thirty_sends_at_once_share_one_token(fs, channel, chat):
    await asyncio.gather(*(channel.send(to(chat, f"m{number}", f"k{number}")) for number in range(30)))

    assert len(fs.sent) == 30
    assert fs.count("token") == 1


async def test_a_chat_gets_no_more_than_five_messages_a_second(fs, build, chat):
    now = [0.0]

    async def pause(seconds):
        now[0] += seconds

    channel = build(limits=FEISHU, monotonic=lambda: now[0], pause=pause)
    times = []
    for number in range(12):
        await channel.send(to(chat, f"m{number}", f"k{number}"))
        times.append(now[0])

    assert times[4] == 0
    assert all(times[later] - times[later - 5] >= 1 for later in range(5, 12))


async def test_a_message_that_must_wait_long_goes_back_to_the_outbox(fs, build, chat):
    channel = build(limits=(Limit(Per.CHAT, 1, 60),), monotonic=lambda: 0.0)
    await channel.send(to(chat, "one", "k1"))
    with pytest.raises(TransientSendError) as caught:
        await channel.send(to(chat, "two", "k2"))

    assert caught.value.retry_after == 60
    assert len(fs.sent) == 1


async def test_an_expired_token_is_replaced_and_the_message_goes_out(fs, channel, chat):
    await channel.send(to(chat, "one", "k1"))
    fs.expire_tokens()
    await channel.send(to(chat, "two", "k2"))

    assert [sent.text for sent in fs.sent] == ["one", "two"]
    assert fs.count("token") == 2


@pytest.mark.parametrize("code", [99991661, 99991663, 99991664, 99991668])
async def test_a_token_that_is_never_taken_is_not_asked_for_in_a_loop(code, fs, channel, chat):
    fs.faults.add("create", Refuse(code, "Invalid access token"), None)

    with pytest.raises(TransientSendError):
        await channel.send(to(chat, "hello"))

    assert fs.count("create") == 2


async def test_a_token_is_renewed_before_it_ends_and_used_on_when_that_fails(fs, build, chat):
    now = [0.0]
    channel = build(monotonic=lambda: now[0])
    await channel.send(to(chat, "one", "k1"))
    now[0] = 7200 - 301
    await channel.send(to(chat, "two", "k2"))
    assert fs.count("token") == 1
    now[0] = 7200 - 299
    fs.faults.add("token", bad_gateway())
    await channel.send(to(chat, "three", "k3"))
    await channel.send(to(chat, "four", "k4"))
    assert fs.count("token") == 2
    now[0] = 7200 - 260
    await channel.send(to(chat, "five", "k5"))
    assert fs.count("token") == 3
    now[0] = 7200 + 7200
    fs.faults.add("token", bad_gateway())
    with pytest.raises(AmbiguousSendError):
        await channel.send(to(chat, "six", "k6"))


async def test_a_bot_outside_the_chat_or_a_strange_address_is_permanent(fs, channel):
    group = fs.group("Ops")
    fs.kick(group)
    with pytest.raises(PermanentSendError, match="outside the group"):
        await channel.send(to(group, "hello"))
    for chat_id, thread in (("oc_unknown", None), ("../x", None), (group.id, "a/b"), ("", None)):
        with pytest.raises(PermanentSendError):
            await channel.send(
                OutboundMessage(Address("feishu", "main", chat_id, thread), "k", OutboundText("x"))
            )


@pytest.mark.parametrize(
    ("name", "mime", "shown"),
    [
        ('a "quoted"\r\nname; filename=b.txt', "text/plain", "a _quoted___name; filename=b.txt"),
        ("100%25 of.bin", "application/octet-stream", "100%25 of.bin"),
    ],
)
async def test_a_file_with_a_hostile_name_arrives_whole(name, mime, shown, fs, channel, chat, tmp_path):
    path = tmp_path / "on-disk"
    path.write_bytes(os.urandom(300_000))

    await channel.send(to(chat, OutboundFile(path, name, mime)))

    (sent,) = fs.sent
    assert (sent.kind, sent.file_name) == ("file", shown)
    assert sent.data == path.read_bytes()


async def test_a_picture_arrives_as_one_and_what_only_claims_to_be_one_as_a_file(fs, channel, chat, tmp_path):
    (tmp_path / "a").write_bytes(PNG)
    (tmp_path / "b").write_bytes(b"not a picture")
    with (tmp_path / "c").open("wb") as file:
        file.write(PNG)
        file.truncate(11 * 1024 * 1024)

    for number, name in enumerate("abc"):
        await channel.send(to(chat, OutboundFile(tmp_path / name, f"{name}.png", "image/png"), f"k{number}"))

    assert [sent.kind for sent in fs.sent] == ["image", "file", "file"]
    assert fs.sent[0].data == PNG


@pytest.mark.parametrize("fault", [DropBefore(), DropAfter(), bad_gateway(), too_many(2)], ids=repr)
async def test_a_file_that_was_not_handed_over_was_surely_not_posted(fault, fs, channel, chat, tmp_path):
    (tmp_path / "f").write_bytes(b"data" * 50_000)
    fs.faults.add("upload_file", fault)

    with pytest.raises(TransientSendError):
        await channel.send(to(chat, OutboundFile(tmp_path / "f", "f.bin")))
    assert fs.sent == []
    await channel.send(to(chat, OutboundFile(tmp_path / "f", "f.bin")))
    assert len(fs.sent) == 1


async def test_an_upload_survives_an_expired_token(fs, channel, chat, tmp_path):
    (tmp_path / "f").write_bytes(b"data" * 50_000)
    await channel.send(to(chat, "first"))
    fs.expire_tokens()

    await channel.send(to(chat, OutboundFile(tmp_path / "f", "f.bin"), "k2"))

    assert fs.sent[1].data == b"data" * 50_000


async def test_a_reaction_shows_work_and_goes_when_it_is_done(fs, channel, chat, ann):
    question = fs.say(chat, ann, "?")
    here = Address("feishu", "main", chat.id)
    for phase in (Phase.THINKING, Phase.WORKING, Phase.ANSWERING):
        await channel.show(here, RunView("r1", question.id, phase))
    assert list(question.reactions.values()) == ["Typing"]
    assert fs.count("react") == 1
    await channel.show(here, RunView("r1", question.id, Phase.DONE))

    assert question.reactions == {}


async def test_a_reaction_goes_even_when_its_showing_was_cancelled(fs, channel, chat, ann):
    question = fs.say(chat, ann, "?")
    here = Address("feishu", "main", chat.id)
    fs.faults.add("react", Slow(0.2))
    showing = asyncio.create_task(channel.show(here, RunView("r1", question.id)))
    await fs.wait_for(lambda: fs.count("react") == 1)
    showing.cancel()
    await channel.show(here, RunView("r1", question.id, Phase.DONE))

    assert question.reactions == {}
    assert fs.count("unreact") == 1


async def test_after_a_restart_the_reaction_of_before_is_taken_off(fs, build, chat, ann):
    question = fs.say(chat, ann, "?")
    here = Address("feishu", "main", chat.id)
    first, second = build(), build()
    await first.show(here, RunView("r1", question.id))
    await first.close()
    await second.show(here, RunView("r1", question.id))
    await second.show(here, RunView("r1", question.id, Phase.DONE))

    assert question.reactions == {}


async def test_showing_never_raises_and_obeys_the_rate_limit(fs, build, chat, ann):
    now = [100.0]
    channel = build(monotonic=lambda: now[0])
    here = Address("feishu", "main", chat.id)
    questions = [fs.say(chat, ann, "?").id for _ in range(8)]
    fs.faults.add("react", too_many(60))
    await channel.show(here, RunView("r0", questions[0]))
    now[0] = 159.0
    await channel.show(here, RunView("r1", questions[1]))
    assert fs.count("react") == 1
    now[0] = 161.0
    for number, fault in enumerate((bad_gateway(), DropBefore(), RawAnswer(b"?"), Refuse(231003, "gone")), 2):
        fs.faults.add("react", fault)
        await channel.show(here, RunView(f"r{number}", questions[number]))
        await channel.show(here, RunView(f"r{number}", questions[number], Phase.DONE))
    await channel.show(here, RunView("r6", None))
    await channel.show(here, RunView("r6", "../../x"))
    async with fs.offline():
        await channel.show(here, RunView("r7", questions[7]))
        await channel.show(here, RunView("r7", questions[7], Phase.DONE))

    assert fs.count("react") == 5
