"""What is sent arrives once, or its failure says whether it may have arrived."""

import asyncio
import os

import pytest

from channels.budgets import SLACK
from channels.errors import AmbiguousSendError, PermanentSendError, TransientSendError
from channels.messages import Address, OutboundFile, OutboundMessage, OutboundText
from channels.pacing import Limit, Per
from channels.slack.render import REPEAT_MARK
from tests.emulators.slack import (
    DropAfter,
    DropBefore,
    Hang,
    RawAnswer,
    Refuse,
    Slow,
    bad_gateway,
    missing_scope,
    too_many,
)


@pytest.fixture
def home(slack, ann):
    return slack.dm(ann)


def to(place, content, thread=None, **more):
    address = Address("slack", "main", place.id, thread)
    content = OutboundText(content) if isinstance(content, str) else content
    return OutboundMessage(address, "key-1", content, **more)


async def test_text_arrives_as_markdown_without_previews(slack, channel, home):
    receipt = await channel.send(to(home, "# Grüße, 世界\n\n| a | b |\n|---|---|\n| <b> | &amp; 😀 |"))

    (sent,) = slack.sent
    assert sent.text == "# Grüße, 世界\n\n| a | b |\n|---|---|\n| <b> | &amp; 😀 |"
    assert sent.params["markdown_text"] == sent.text
    assert (sent.params["unfurl_links"], sent.params["unfurl_media"]) == (False, False)
    assert receipt.message_id == sent.ts


async def test_calls_that_are_silenced_leave_room_for_the_rest_of_a_piece(slack, channel, home):
    text = "<!here> " * 7500
    pieces = channel.split(text)
    for piece in pieces:
        await channel.send(to(home, piece, possible_repeat=True))

    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(sent.text.startswith(REPEAT_MARK) and not sent.calls for sent in slack.sent)


async def test_nothing_the_model_writes_calls_people(slack, channel, home):
    text = (
        "<!channel> `<!here|now>` [<!everyone>](https://x.example) <!subteam^S07A|@ops>\n```\n<@U07ABC>\n```"
    )
    await channel.send(to(home, text))

    (sent,) = slack.sent
    assert sent.calls == ()
    assert sent.text.replace("\u200b", "") == text


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (DropBefore(), AmbiguousSendError),
        (DropAfter(), AmbiguousSendError),
        (bad_gateway(), AmbiguousSendError),
        (bad_gateway(500), AmbiguousSendError),
        (bad_gateway(408), AmbiguousSendError),
        (Refuse("internal_error"), AmbiguousSendError),
        (Refuse("fatal_error"), AmbiguousSendError),
        (Refuse("request_timeout"), AmbiguousSendError),
        (Refuse("service_unavailable", 503), AmbiguousSendError),
        (RawAnswer(b"<html>fine</html>"), AmbiguousSendError),
        (RawAnswer(b"fine", content_type="text/plain"), AmbiguousSendError),
        (RawAnswer(b"", content_type="text/plain"), AmbiguousSendError),
        (RawAnswer(b"[1]", content_type="application/json"), AmbiguousSendError),
        (RawAnswer(b"null", content_type="application/json"), AmbiguousSendError),
        (RawAnswer(b"{", content_type="application/json"), AmbiguousSendError),
        (RawAnswer(b"\xff\xfe", content_type="application/json"), AmbiguousSendError),
        (RawAnswer(b'{"ok":true}', content_type="application/json"), AmbiguousSendError),
        (RawAnswer(b'{"ok":true,"ts":7}', content_type="application/json"), AmbiguousSendError),
        (RawAnswer(b"[" * 100_000, content_type="application/json"), AmbiguousSendError),
        (bad_gateway(404), TransientSendError),
        (RawAnswer(b"", 407), TransientSendError),
        (Refuse("invalid_auth"), TransientSendError),
        (Refuse("token_revoked"), TransientSendError),
        (missing_scope("chat:write"), TransientSendError),
        (Refuse("channel_not_found"), PermanentSendError),
        (Refuse("is_archived"), PermanentSendError),
        (Refuse("not_in_channel"), PermanentSendError),
        (Refuse("msg_too_long"), PermanentSendError),
        (Refuse("restricted_action"), PermanentSendError),
        (Refuse("an_error_of_next_year"), PermanentSendError),
    ],
    ids=lambda value: repr(value)[:60] if not isinstance(value, type) else value.__name__,
)
async def test_a_failure_says_what_to_do_next(fault, error, slack, channel, home):
    slack.faults.add("chat.postMessage", fault)

    with pytest.raises(error):
        await channel.send(to(home, "hello"))


async def test_a_message_taken_without_an_answer_is_ambiguous_and_was_posted(slack, channel, home):
    slack.faults.add("chat.postMessage", DropAfter())

    with pytest.raises(AmbiguousSendError):
        await channel.send(to(home, "hello"))

    assert [sent.text for sent in slack.sent] == ["hello"]


async def test_no_failed_send_is_repeated_behind_our_back(slack, channel, home):
    await channel.send(to(home, "a connection that is kept open"))
    for fault in (DropBefore(), DropAfter(), bad_gateway(), too_many(1)):
        slack.faults.add("chat.postMessage", fault)
        with pytest.raises((AmbiguousSendError, TransientSendError)):
            await channel.send(to(home, "hello"))

    assert slack.count("chat.postMessage") == 5


async def test_no_connection_means_surely_not_posted(slack, channel, home):
    async with slack.offline():
        with pytest.raises(TransientSendError) as caught:
            await channel.send(to(home, "hello"))

    assert caught.value.retry_after is None
    await channel.send(to(home, "hello again"))
    assert [sent.text for sent in slack.sent] == ["hello again"]


async def test_silence_after_the_request_is_ambiguous(slack, build, home):
    slack.faults.add("chat.postMessage", Hang())

    with pytest.raises(AmbiguousSendError):
        await build(response_seconds=0.2).send(to(home, "hello"))


async def test_a_slow_answer_is_still_an_answer(slack, build, home):
    slack.faults.add("chat.postMessage", Slow(0.4))

    await build(response_seconds=3).send(to(home, "hello"))

    assert len(slack.sent) == 1


async def test_a_place_we_cannot_write_to_is_permanent(slack, channel):
    archived, elsewhere = slack.channel("old"), slack.channel("elsewhere", joined=False)
    archived.archived = True
    for place, word in ((archived, "is_archived"), (elsewhere, "not_in_channel")):
        with pytest.raises(PermanentSendError, match=word):
            await channel.send(to(place, "hello"))
    with pytest.raises(PermanentSendError, match="thread_not_found"):
        await channel.send(to(slack.channel("ops"), "hello", "1.000001"))
    calls = len(slack.calls)
    for chat, thread in (("#general", None), ("C1&x=2", None), ("C07OPS", "not a timestamp")):
        with pytest.raises(PermanentSendError, match="of this address"):
            await channel.send(
                OutboundMessage(Address("slack", "main", chat, thread), "k", OutboundText("x"))
            )
    assert len(slack.calls) == calls


async def test_sends_do_not_wait_for_each_other(slack, channel, home):
    slack.faults.add("chat.postMessage", Slow(0.5), 30)

    await asyncio.wait_for(asyncio.gather(*(channel.send(to(home, f"{number}")) for number in range(30))), 5)

    assert len(slack.sent) == 30


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../a\r\nname/b.txt", ".._a__name_b.txt"),
        ("half \ud83d.txt", "half _.txt"),
        (" ", "file"),
    ],
)
async def test_a_file_with_a_hostile_name_arrives_whole(name, shown, slack, ann, channel, tmp_path):
    ops = slack.channel("ops")
    question = slack.say(ops, ann, "?")
    data = os.urandom(300_000)
    (tmp_path / "f").write_bytes(data)

    receipt = await channel.send(
        to(ops, OutboundFile(tmp_path / "f", name, "application/pdf"), question["ts"])
    )

    (sent,) = slack.sent
    assert sent.file_name == shown
    assert sent.document == data
    assert sent.thread == question["ts"]
    assert slack.files[receipt.message_id].data == data


async def test_a_file_that_may_be_a_repeat_says_so(slack, channel, home, tmp_path):
    (tmp_path / "f").write_bytes(b"data")

    await channel.send(to(home, OutboundFile(tmp_path / "f", "f.txt"), possible_repeat=True))

    assert slack.sent[0].text == REPEAT_MARK


@pytest.mark.parametrize("step", ["files.getUploadURLExternal", "upload"])
@pytest.mark.parametrize("fault", [DropBefore(), DropAfter(), bad_gateway(), too_many(7)], ids=repr)
async def test_before_the_last_step_of_a_file_nothing_was_posted(step, fault, slack, channel, home, tmp_path):
    (tmp_path / "f").write_bytes(b"data")
    slack.faults.add(step, fault)

    with pytest.raises(TransientSendError):
        await channel.send(to(home, OutboundFile(tmp_path / "f", "f.txt")))

    assert slack.sent == []


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (DropAfter(), AmbiguousSendError),
        (bad_gateway(), AmbiguousSendError),
        (too_many(3), TransientSendError),
        (missing_scope("files:write"), TransientSendError),
        (Refuse("channel_not_found"), PermanentSendError),
    ],
    ids=repr,
)
async def test_the_last_step_of_a_file_is_like_any_message(fault, error, slack, channel, home, tmp_path):
    (tmp_path / "f").write_bytes(b"data")
    slack.faults.add("files.completeUploadExternal", fault)

    with pytest.raises(error):
        await channel.send(to(home, OutboundFile(tmp_path / "f", "f.txt")))


async def test_an_upload_carries_no_token(slack, channel, home, tmp_path):
    (tmp_path / "f").write_bytes(b"data")

    await channel.send(to(home, OutboundFile(tmp_path / "f", "f.txt")))

    (upload,) = [call for call in slack.calls if call.method == "upload"]
    assert "Authorization" not in upload.params["headers"]


async def test_slacks_limits_are_kept_and_what_must_wait_longer_goes_back(slack, build, home, seconds):
    channel = build(limits=SLACK)
    for number in range(3):
        await channel.send(to(home, f"{number}"))
        seconds.now += 0.1
    waiting = asyncio.create_task(channel.send(to(home, "3")))
    await channel.send(to(slack.channel("ops"), "elsewhere"))
    assert not waiting.done()
    seconds.now += 2.9
    await waiting

    channel = build(limits=(Limit(Per.CHAT, 1, 60),))
    await channel.send(to(home, "4"))
    with pytest.raises(TransientSendError) as caught:
        await channel.send(to(home, "5"))

    assert caught.value.retry_after == pytest.approx(60)
    assert [sent.text for sent in slack.sent] == ["0", "1", "2", "elsewhere", "3", "4"]
