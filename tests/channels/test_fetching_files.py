"""Attachments of every platform reach the disk in full or not at all, and what failed is told as it was."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from channels.errors import AttachmentError
from channels.fetching import Fetcher, Reading, write_new
from tests.channels.full_disk import room_for

MB = 1024 * 1024


class PlatformError(Exception):
    """A fault as a platform's client would report it."""


@dataclass
class Source:
    """A platform whose downloads fail in the ways listed, one after the other, and then arrive."""

    faults: list[BaseException]
    data: bytes = b"data"
    asked: float | None = None
    lasting: bool = False
    opened: int = 0

    def __post_init__(self) -> None:
        self.pauses: list[float] = []

    async def chunks(self) -> AsyncIterator[bytes]:
        yield self.data[:2]
        if self.faults:
            raise self.faults.pop(0)
        yield self.data[2:]

    async def download(self, target: Path) -> None:
        self.opened += 1
        await write_new(target, self.chunks(), MB)

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def fetcher(self, seconds: float = 60.0) -> Fetcher[PlatformError]:
        reading = Reading(
            kind=PlatformError,
            passing=lambda fault: not self.lasting,
            asked=lambda fault: self.asked,
            lost=lambda fault: AttachmentError(f"lost: {fault}"),
        )
        return Fetcher(reading, self.pause, seconds)


async def of(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def test_a_file_is_written_in_full(tmp_path) -> None:
    await write_new(tmp_path / "f", of(b"ab", b"", b"c"), 3)

    assert (tmp_path / "f").read_bytes() == b"abc"


async def test_a_file_over_the_limit_is_cut_off_and_removed(tmp_path) -> None:
    with pytest.raises(AttachmentError, match=r"at most 1\.5 MB"):
        await write_new(tmp_path / "f", of(bytes(MB), bytes(MB)), 3 * MB // 2)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("chunk", [64 * 1024, 1000], ids=["as-it-is-written", "as-it-is-closed"])
async def test_a_full_disk_is_said_to_be_full_and_nothing_is_left(tmp_path, chunk: int) -> None:
    with room_for(chunk // 2), pytest.raises(AttachmentError, match="no room"):
        await write_new(tmp_path / "f", of(os.urandom(chunk)), MB)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fault", [TimeoutError(), ConnectionResetError(), ValueError()], ids=repr)
async def test_a_fault_of_the_connection_is_not_taken_for_one_of_the_disk(tmp_path, fault: Exception) -> None:
    with pytest.raises(type(fault)):
        await write_new(tmp_path / "f", Source([fault]).chunks(), MB)

    assert list(tmp_path.iterdir()) == []


async def test_a_timeout_of_the_connection_is_told_as_one(tmp_path) -> None:
    source = Source([TimeoutError()])
    with pytest.raises(AttachmentError, match="too long"):
        await source.fetcher().fetch(lambda: source.download(tmp_path / "f"))


async def test_a_file_that_is_there_is_not_written_over(tmp_path) -> None:
    (tmp_path / "f").write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        await write_new(tmp_path / "f", of(b"theirs"), MB)

    assert (tmp_path / "f").read_bytes() == b"mine"


async def test_passing_faults_are_tried_again_from_the_start_three_times_in_all(tmp_path) -> None:
    mended = Source([PlatformError("one"), PlatformError("two")])
    broken = Source([PlatformError("one"), PlatformError("two"), PlatformError("three")])

    await mended.fetcher().fetch(lambda: mended.download(tmp_path / "mended"))
    with pytest.raises(AttachmentError, match="lost: three"):
        await broken.fetcher().fetch(lambda: broken.download(tmp_path / "broken"))

    assert [path.name for path in tmp_path.iterdir()] == ["mended"]
    assert (tmp_path / "mended").read_bytes() == b"data"
    assert mended.pauses == broken.pauses == [1, 2]


async def test_a_lasting_fault_is_not_tried_again(tmp_path) -> None:
    source = Source([PlatformError("gone")], lasting=True)
    with pytest.raises(AttachmentError, match="lost: gone"):
        await source.fetcher().fetch(lambda: source.download(tmp_path / "f"))

    assert (source.opened, source.pauses) == (1, [])


@pytest.mark.parametrize(("asked", "waited"), [(7.0, 7.0), (3600.0, 30.0)])
async def test_the_platform_says_how_long_to_wait_within_reason(
    tmp_path, asked: float, waited: float
) -> None:
    source = Source([PlatformError("slow down")], asked=asked)
    await source.fetcher().fetch(lambda: source.download(tmp_path / "f"))

    assert source.pauses == [waited]


async def test_a_file_that_takes_too_long_is_given_up_and_removed(tmp_path) -> None:
    async def forever() -> AsyncIterator[bytes]:
        yield b"a"
        while True:
            await asyncio.sleep(3600)
            yield b"b"

    source = Source([])
    with pytest.raises(AttachmentError, match="too long"):
        await source.fetcher(0.05).fetch(lambda: write_new(tmp_path / "f", forever(), MB))

    assert list(tmp_path.iterdir()) == []
