"""Tells when programs run and when the last of them has ended, without looking at the clock."""

import asyncio
import os
import select
from pathlib import Path


class Beacon:
    """A pipe with a name. Programs write to it; its end is reached when none has it open any more.

    Args:
        path: Where the pipe is made.
    """

    def __init__(self, path: Path) -> None:
        os.mkfifo(path, 0o666)
        os.chmod(path, 0o666)
        # Without waiting for a writer, which only comes later.
        self._handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._reader: asyncio.StreamReader | None = None

    async def _stream(self) -> asyncio.StreamReader:
        if self._reader is None:
            self._reader = asyncio.StreamReader()
            protocol = asyncio.StreamReaderProtocol(self._reader)
            file = os.fdopen(self._handle, "rb", buffering=0)
            await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, file)
        return self._reader

    async def lit(self, times: int = 1) -> None:
        """Wait until programs have written so many lines."""
        # A pipe that no one has opened yet would be at its end, so look at it only once there is a line.
        await asyncio.to_thread(_wait_readable, self._handle)
        stream = await self._stream()
        for _ in range(times):
            assert await stream.readline()

    async def dark(self) -> None:
        """Wait until no program has it open."""
        await (await self._stream()).read()


def _wait_readable(handle: int) -> None:
    select.select([handle], [], [])
