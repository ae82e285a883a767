"""Files arrive byte for byte under their names, or the reason is told and the words are not lost."""

import os
from pathlib import Path

import pytest

from channels.errors import AttachmentError, PermanentSendError
from channels.messages import Address, OutboundFile, OutboundMessage
from tests.contract.bench import Bench, Place, PlatformBench
from tests.contract.benches import connected, everywhere

MB = 1024 * 1024
NAME = "Prüfbericht 検査結果 👍🏽.pdf"


def file_to(place: Place, bench: PlatformBench, path: Path, name: str = NAME) -> OutboundMessage:
    """A file for a place."""
    channel = bench.build()
    address = Address(channel.name, channel.account, place.chat, place.thread)
    return OutboundMessage(address, "k", OutboundFile(path, name, "application/pdf"))


@pytest.mark.parametrize("size", [0, 1, 3 * MB])
@everywhere
async def test_a_file_comes_in_byte_for_byte_with_its_name_and_words(
    bench: Bench, size: int, tmp_path: Path
) -> None:
    channel, data = bench.build(), os.urandom(size)
    async with bench.listening(channel):
        bench.send_file(bench.direct(), NAME, data, "please read")
        await bench.wait_until_heard()
        (attachment,) = (file for message in bench.inbox.messages for file in message.attachments)
        await channel.fetch(attachment, tmp_path / "f", 20 * MB)

    assert (tmp_path / "f").read_bytes() == data
    assert attachment.name == NAME
    assert attachment.size in (size, None)
    assert "please read" in bench.inbox.texts


@everywhere
async def test_of_a_file_too_large_the_reason_is_told_and_the_words_are_heard(
    bench: Bench, tmp_path: Path
) -> None:
    channel = bench.build()
    (tmp_path / "files").mkdir()
    async with bench.listening(channel):
        bench.send_file(bench.direct(), "large.bin", os.urandom(2 * MB), "please read")
        await bench.wait_until_heard()
        (attachment,) = (file for message in bench.inbox.messages for file in message.attachments)
        with pytest.raises(AttachmentError, match="large"):
            await channel.fetch(attachment, tmp_path / "files" / "f", MB)

    assert "please read" in bench.inbox.texts
    assert list((tmp_path / "files").iterdir()) == []


@everywhere
async def test_a_file_that_is_there_is_not_written_over(bench: Bench, tmp_path: Path) -> None:
    channel, target = bench.build(), tmp_path / "f"
    target.write_bytes(b"mine")
    async with bench.listening(channel):
        bench.send_file(bench.direct(), "a.txt", b"theirs")
        (message,) = await bench.inbox.wait_for(1)
        with pytest.raises(FileExistsError):
            await channel.fetch(message.attachments[0], target, MB)

    assert target.read_bytes() == b"mine"


@pytest.mark.parametrize(("name", "size"), [(NAME, 300_000), ("a.txt", 1), ("x" * 200, 1)])
@connected
async def test_a_file_goes_out_byte_for_byte_under_its_name_into_the_thread(
    bench: PlatformBench, name: str, size: int, tmp_path: Path
) -> None:
    (tmp_path / "on-disk").write_bytes(os.urandom(size))
    thread = bench.thread()

    await bench.build().send(file_to(thread, bench, tmp_path / "on-disk", name))

    (seen,) = bench.seen()
    assert (seen.place, seen.file_name) == (thread, name)
    assert seen.data == (tmp_path / "on-disk").read_bytes()


@connected
async def test_a_file_no_platform_takes_is_refused_with_the_reason_and_not_tried(
    bench: PlatformBench, tmp_path: Path
) -> None:
    channel, home = bench.build(), bench.direct()
    (tmp_path / "empty").touch()
    with (tmp_path / "large").open("wb") as large:
        large.truncate(bench.upload_limit + 1)

    for name, words in (("empty", "is empty"), ("large", "at most"), ("gone", "cannot be read")):
        with pytest.raises(PermanentSendError, match=words) as caught:
            await channel.send(file_to(home, bench, tmp_path / name))
        assert str(tmp_path) not in str(caught.value)
    assert bench.seen() == []
