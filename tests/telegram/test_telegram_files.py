"""Attachments are streamed to disk in full, or not at all."""

import os

import pytest

from channels.errors import AttachmentError
from channels.messages import Attachment
from tests.channels.full_disk import room_for
from tests.emulators.telegram import DropAfter, Hang, Refuse, bad_gateway, too_many

MB = 1024 * 1024


def attachment(file_id, size=None):
    return Attachment("name.bin", file_id, size)


async def test_a_file_known_to_be_too_large_is_not_asked_for(tg, channel, tmp_path):
    file_id = tg.store_file(b"x", size=21 * MB)
    with pytest.raises(AttachmentError, match="at most 20 MB"):
        await channel.fetch(attachment(file_id, 21 * MB), tmp_path / "f", 100 * MB)
    with pytest.raises(AttachmentError, match="at most 1 MB"):
        await channel.fetch(attachment(file_id, 2 * MB), tmp_path / "f", 1 * MB)

    assert tg.calls == []
    assert list(tmp_path.iterdir()) == []


async def test_a_file_telegram_finds_too_large_is_explained(tg, channel, tmp_path):
    with pytest.raises(AttachmentError, match="at most 20 MB"):
        await channel.fetch(attachment(tg.store_file(b"x", size=21 * MB)), tmp_path / "f", 100 * MB)


async def test_a_file_larger_than_it_claims_is_cut_off(tg, channel, tmp_path):
    file_id = tg.store_file(os.urandom(2 * MB), size=10)

    with pytest.raises(AttachmentError, match="at most 1 MB"):
        await channel.fetch(attachment(file_id, 10), tmp_path / "f", 1 * MB)

    assert list(tmp_path.iterdir()) == []


async def test_a_download_that_breaks_is_tried_again_from_the_start(tg, channel, tmp_path, pauses):
    data = os.urandom(300_000)
    tg.faults.add("file", DropAfter())
    tg.faults.add("getFile", too_many(7))

    await channel.fetch(attachment(tg.store_file(data)), tmp_path / "f", MB)

    assert (tmp_path / "f").read_bytes() == data
    assert pauses == [7, 2]


async def test_a_download_that_keeps_breaking_leaves_nothing(tg, channel, tmp_path):
    tg.faults.add("file", DropAfter(), None)

    with pytest.raises(AttachmentError, match="send it again"):
        await channel.fetch(attachment(tg.store_file(b"x" * 100_000)), tmp_path / "f", MB)

    assert list(tmp_path.iterdir()) == []
    assert tg.count("file") == 3


@pytest.mark.parametrize("fault", [Refuse(404, "Not Found"), Refuse(401, "Unauthorized")])
async def test_a_file_that_is_gone_is_not_asked_for_twice(fault, tg, channel, tmp_path):
    tg.faults.add("file", fault)

    with pytest.raises(AttachmentError):
        await channel.fetch(attachment(tg.store_file(b"x")), tmp_path / "f", MB)

    assert tg.count("file") == 1


async def test_an_unknown_file_is_an_attachment_error(channel, tmp_path):
    with pytest.raises(AttachmentError):
        await channel.fetch(attachment("no-such-file"), tmp_path / "f", MB)


async def test_silence_and_outages_are_attachment_errors(tg, build, tmp_path):
    channel = build(response_seconds=0.2)
    tg.faults.add("file", Hang(), None)
    with pytest.raises(AttachmentError):
        await channel.fetch(attachment(tg.store_file(b"x")), tmp_path / "f", MB)
    tg.faults.clear()
    tg.faults.add("getFile", bad_gateway(), None)
    with pytest.raises(AttachmentError):
        await channel.fetch(attachment(tg.store_file(b"x")), tmp_path / "f", MB)
    async with tg.offline():
        with pytest.raises(AttachmentError):
            await channel.fetch(attachment(tg.store_file(b"x")), tmp_path / "f", MB)

    assert list(tmp_path.iterdir()) == []


async def test_a_full_disk_is_told_as_one(tg, channel, tmp_path):
    with room_for(500), pytest.raises(AttachmentError, match="no room"):
        await channel.fetch(attachment(tg.store_file(os.urandom(1000))), tmp_path / "f", MB)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["/etc/passwd", "documents/../../secret", ".."])
async def test_a_path_out_of_the_file_area_is_not_followed(path, tg, channel, tmp_path):
    file_id = tg.store_file(b"x")
    tg.files[file_id].path = path

    with pytest.raises(AttachmentError):
        await channel.fetch(attachment(file_id), tmp_path / "f", MB)

    assert tg.count("file") == 0
