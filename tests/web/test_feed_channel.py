import os
from pathlib import Path

import pytest

from channels.errors import AttachmentError
from channels.feed import FeedChannel, Staging
from channels.messages import Attachment, OutboundMessage, OutboundText
from channels.views import RunView
from tests.web.local_hall import MemoryFeed

REF = "0123456789abcdef-0"


@pytest.fixture
def channel(tmp_path: Path) -> FeedChannel:
    (tmp_path / "staging").mkdir()
    return FeedChannel("web", MemoryFeed(), Staging(tmp_path / "staging"))


async def test_sending_tells_the_readers_and_nothing_else(channel: FeedChannel) -> None:
    feed = channel._feed
    address = channel.address("main")
    async with feed.watch(address) as changes:
        receipt = await channel.send(OutboundMessage(address, "run-1:0", OutboundText("hello")))
        assert await anext(changes) is None
        view = RunView("r", "m")
        await channel.show(address, view)
        assert await anext(changes) == view
    assert receipt.message_id == "run-1:0"


def test_a_local_chat_takes_any_length_in_one_piece(channel: FeedChannel) -> None:
    assert channel.split("x" * 1_000_000) == ["x" * 1_000_000]
    assert channel.split("") == []


async def test_a_staged_file_can_be_fetched_again_and_again(channel: FeedChannel, tmp_path: Path) -> None:
    (channel.staging.root / REF).write_bytes(b"content")
    for target in (tmp_path / "a", tmp_path / "b"):
        await channel.fetch(Attachment("x", REF), target, 7)
        assert target.read_bytes() == b"content"


async def test_a_file_over_the_cap_is_refused_and_leaves_nothing(
    channel: FeedChannel, tmp_path: Path
) -> None:
    (channel.staging.root / REF).write_bytes(b"content")
    with pytest.raises(AttachmentError, match="6 bytes"):
        await channel.fetch(Attachment("x", REF), tmp_path / "a", 6)
    assert not (tmp_path / "a").exists()


async def test_an_existing_target_is_not_written_over(channel: FeedChannel, tmp_path: Path) -> None:
    (channel.staging.root / REF).write_bytes(b"content")
    (tmp_path / "a").write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        await channel.fetch(Attachment("x", REF), tmp_path / "a", 100)
    assert (tmp_path / "a").read_bytes() == b"mine"


@pytest.mark.parametrize(
    "ref", ["", ".", "..", "../secret", "/etc/passwd", "0123456789abcdef/../../secret", "a.part"]
)
async def test_nothing_outside_the_staging_directory_is_reached(
    channel: FeedChannel, tmp_path: Path, ref: str
) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    with pytest.raises(AttachmentError):
        await channel.fetch(Attachment("x", ref), tmp_path / "out", 100)
    assert not (tmp_path / "out").exists()


async def test_links_are_not_followed(channel: FeedChannel, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (channel.staging.root / REF).symlink_to(tmp_path / "secret")
    with pytest.raises(AttachmentError):
        await channel.fetch(Attachment("x", REF), tmp_path / "out", 100)


async def test_a_file_that_is_gone_is_said_so(channel: FeedChannel, tmp_path: Path) -> None:
    with pytest.raises(AttachmentError, match="send it again"):
        await channel.fetch(Attachment("x", REF), tmp_path / "out", 100)


def test_only_old_uploads_are_swept_away(channel: FeedChannel) -> None:
    old, new = channel.staging.root / REF, channel.staging.fresh()
    old.write_bytes(b"")
    new.write_bytes(b"")
    os.utime(old, (1000, 1000))
    os.utime(new, (3000, 3000))
    assert channel.staging.sweep(2000.0) == 1
    assert not old.exists()
    assert new.exists()
    assert Staging(channel.staging.root / "missing").sweep(2000.0) == 0
