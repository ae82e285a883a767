"""Fetching what people attached: the part that is the same on every platform."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Generic, TypeVar

from channels.backoff import Pause
from channels.errors import AttachmentError

FETCH_SECONDS = 300.0
"""How long one file may take, all tries included."""

TRIES = 3
"""How often one file is asked for, as long as what fails may pass."""

LONGEST_PAUSE = 30.0
"""Seconds between two tries, whatever the platform asks for: somebody waits for an answer."""

Fault = TypeVar("Fault", bound=Exception)


@dataclass(frozen=True, slots=True)
class Reading(Generic[Fault]):
    """How the faults of a platform's client are read.

    Args:
        kind: What they all are.
        passing: Whether another try may go well.
        asked: Seconds that the platform asked us to wait, if it did.
        lost: What to tell the sender once no further try is made.
    """

    kind: type[Fault]
    passing: Callable[[Fault], bool]
    asked: Callable[[Fault], float | None]
    lost: Callable[[Fault], AttachmentError]


class Fetcher(Generic[Fault]):
    """Tries a download until it is done, lost, or has taken too long.

    Args:
        reading: How the platform's faults are read.
        pause: Waits between tries.
        seconds: How long one file may take, all tries included.
    """

    def __init__(self, reading: Reading[Fault], pause: Pause, seconds: float = FETCH_SECONDS) -> None:
        self._reading = reading
        self._pause = pause
        self._seconds = seconds

    async def fetch(self, download: Callable[[], Awaitable[None]]) -> None:
        """Have a file downloaded.

        Args:
            download: One try, from the start. It leaves nothing behind when it fails.

        Raises:
            AttachmentError: It cannot be had.
        """
        try:
            async with asyncio.timeout(self._seconds):
                await self._try(download)
        except TimeoutError:
            raise AttachmentError("The file took too long to arrive. Please send it again.") from None

    async def _try(self, download: Callable[[], Awaitable[None]]) -> None:
        tries = 0
        while True:
            tries += 1
            try:
                return await download()
            except self._reading.kind as fault:
                if tries == TRIES or not self._reading.passing(fault):
                    raise self._reading.lost(fault) from None
                asked = self._reading.asked(fault)
            await self._pause(min(asked or float(tries), LONGEST_PAUSE))


async def write_new(target: Path, chunks: AsyncIterator[bytes], limit: int) -> None:
    """Write a file that is there in full or not at all. What ``chunks`` raises passes through.

    Args:
        target: Where it is to be.
        chunks: Its bytes.
        limit: How many bytes it may have.

    Raises:
        AttachmentError: It is too large, or there is no room for it.
        FileExistsError: There is one already.
    """
    with _new_file(target) as file:
        received = 0
        async for chunk in chunks:
            received += len(chunk)
            if received > limit:
                raise too_large(limit)
            await _on_disk(partial(file.write, chunk))
        await _on_disk(file.close)


def too_large(limit: int) -> AttachmentError:
    """What to tell the sender of a file with more than ``limit`` bytes."""
    return AttachmentError(f"The file is too large: at most {limit / 1024 / 1024:.4g} MB can be taken here.")


@contextmanager
def _new_file(target: Path) -> Iterator[IO[bytes]]:
    file = target.open("xb")
    try:
        yield file
    except BaseException:
        with suppress(OSError):  # on a full disk, closing fails like writing did
            file.close()
        target.unlink()
        raise


async def _on_disk(work: Callable[[], object]) -> None:
    """Do what only the disk can make fail: a timeout of the connection is an ``OSError`` too."""
    try:
        await asyncio.to_thread(work)
    except OSError as error:
        raise AttachmentError("There is no room to store the file.") from error
