"""Attachments are streamed to disk in full, or not at all."""

import os

import pytest

from channels.errors import AttachmentError
from channels.feishu.content import read_content
from channels.messages import Attachment
from tests.channels.full_disk import room_for
from tests.emulators.feishu import DropAfter, DropBefore, Hang, RawAnswer, Refuse, bad_gateway, too_many

MB = 1024 * 1024


def attached(message):
    return read_content(message.kind, message.content, message.id).attachments


@pytest.fixture
def fetchable(fs, chat, ann):
    """A file that a person sent, as an attachment."""

    def make(data):
        (attachment,) = attached(fs.send_file(chat, ann, "name.bin", data, push=False))
        return attachment

    return make


@pytest.mark.parametrize("kind", ["audio", "media"])
async def test_recordings_are_fetched_like_files(kind, fs, chat, ann, channel, tmp_path):
    for number, one in enumerate(attached(fs.send_file(chat, ann, "clip.mp4", b"frames", kind=kind))):
        await channel.fetch(one, tmp_path / f"{number}", MB)

    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"frames"]


async def test_pictures_of_a_post_are_fetched_each(fs, chat, ann, channel, tmp_path):
    keys = [fs.store("p", data, image=True) for data in (b"first", b"second")]
    lines = [[{"tag": "text", "text": "look"}], [{"tag": "img", "image_key": key} for key in keys]]
    message = fs.post(chat, ann, "post", {"title": "", "content": lines})
    files = attached(message)
    for file in files:
        await channel.fetch(file, tmp_path / file.name, MB)

    assert [file.name for file in files] == ["image-1.png", "image-2.png"]
    assert (tmp_path / "image-2.png").read_bytes() == b"second"


async def test_a_download_that_breaks_is_tried_again_from_the_start(fs, channel, fetchable, tmp_path, pauses):
    data = os.urandom(300_000)
    fs.faults.add("resource", DropAfter())
    fs.faults.add("resource", too_many(7))

    await channel.fetch(fetchable(data), tmp_path / "f", MB)

    assert (tmp_path / "f").read_bytes() == data
    assert pauses == [1, 7]


async def test_a_download_that_keeps_breaking_leaves_nothing(fs, channel, fetchable, tmp_path):
    fs.faults.add("resource", DropAfter(), None)

    with pytest.raises(AttachmentError, match="send it again"):
        await channel.fetch(fetchable(b"x" * 100_000), tmp_path / "f", MB)

    assert list(tmp_path.iterdir()) == []
    assert fs.count("resource") == 3


@pytest.mark.parametrize(
    ("fault", "word"),
    [
        (Refuse(234003, "File not in msg."), "send it again"),
        (Refuse(234037, "Downloaded file size exceeds limit."), "at most"),
        (Refuse(234043, "Unsupported message type."), "forwarded"),
        (Refuse(99991672, "Access denied."), "permission"),
        (RawAnswer(b"<html>log in</html>", 404), "send it again"),
    ],
    ids=repr,
)
async def test_a_file_that_is_refused_is_explained_and_not_asked_for_twice(
    fault, word, fs, channel, fetchable, tmp_path
):
    fs.faults.add("resource", fault)

    with pytest.raises(AttachmentError, match=word):
        await channel.fetch(fetchable(b"x"), tmp_path / "f", MB)

    assert fs.count("resource") == 1
    assert list(tmp_path.iterdir()) == []


async def test_an_expired_token_is_replaced(fs, channel, fetchable, tmp_path):
    await channel.check()
    fs.expire_tokens()

    await channel.fetch(fetchable(b"data"), tmp_path / "f", MB)

    assert (tmp_path / "f").read_bytes() == b"data"


@pytest.mark.parametrize(
    "ref", ["", "om_1/file", "om_1/file/a/b", "../x/file/key", "om_1/card/key", "om_1/file/.."]
)
async def test_a_strange_reference_is_an_attachment_error(ref, fs, channel, tmp_path):
    with pytest.raises(AttachmentError):
        await channel.fetch(Attachment("f", ref), tmp_path / "f", MB)

    assert fs.calls == []


async def test_silence_and_outages_are_attachment_errors(fs, build, fetchable, tmp_path):
    channel = build(response_seconds=0.2)
    for fault in (Hang(), DropBefore(), bad_gateway()):
        fs.faults.add("resource", fault, None)
        with pytest.raises(AttachmentError):
            await channel.fetch(fetchable(b"x"), tmp_path / "f", MB)
        fs.faults.clear()
    async with fs.offline():
        with pytest.raises(AttachmentError):
            await channel.fetch(fetchable(b"x"), tmp_path / "f", MB)

    assert list(tmp_path.iterdir()) == []


async def test_a_full_disk_is_told_as_one(channel, fetchable, tmp_path):
    with room_for(500), pytest.raises(AttachmentError, match="no room"):
        await channel.fetch(fetchable(os.urandom(1000)), tmp_path / "f", MB)

    assert list(tmp_path.iterdir()) == []
