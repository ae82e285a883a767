"""The cable between Hart and its database, to be pulled."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial


class Cable:
    """Forwards TCP connections to a server while it is plugged in.

    Args:
        host: Of the server.
        port: Of the server.
    """

    def __init__(self, host: str, port: int) -> None:
        self._to = (host, port)
        self._plugged = True
        self._streams: set[asyncio.StreamWriter] = set()
        self._serving: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Condition()
        self.carried = b""
        """What went to the server."""
        self.notified = 0
        """Notifications of new jobs that came from the server."""
        self.held = 0
        """Answers that wait because of :meth:`hold`."""
        self.refused = 0
        self.port = 0
        self._flowing = asyncio.Event()
        self._flowing.set()

    def pull(self) -> None:
        """Cut every connection and refuse new ones."""
        self._plugged = False
        for stream in self._streams:
            stream.transport.abort()

    def plug(self) -> None:
        """Forward again."""
        self._plugged = True

    def hold(self) -> None:
        """Keep answers back; notifications come through."""
        self.held = 0
        self._flowing.clear()

    def release(self) -> None:
        """Let answers through again."""
        self._flowing.set()

    async def until(self, predicate: Callable[[], bool]) -> None:
        """Wait until something is true of what was carried or refused."""
        async with asyncio.timeout(60), self._changed:
            await self._changed.wait_for(predicate)

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a new connection."""
        task = asyncio.create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def close(self) -> None:
        """Cut every connection and wait until all are gone."""
        self.release()
        self.pull()
        await asyncio.gather(*self._serving)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._plugged:
            self.refused += 1
            writer.transport.abort()
            await self._tell()
            return
        there, back = await asyncio.open_connection(*self._to)
        self._streams |= {writer, back}
        listening = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(_copy(reader, back, partial(self._asked, listening)))
            group.create_task(_copy(there, writer, partial(self._answered, listening)))
        self._streams -= {writer, back}

    async def _asked(self, listening: asyncio.Event, data: bytes) -> None:
        self.carried += data
        if b"LISTEN" in data:
            listening.set()
        await self._tell()

    async def _answered(self, listening: asyncio.Event, data: bytes) -> None:
        if listening.is_set():
            self.notified += data.count(b"job_inserted")
            await self._tell()
        elif not self._flowing.is_set():
            self.held += 1
            await self._tell()
            await self._flowing.wait()

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()


async def _copy(
    source: asyncio.StreamReader, target: asyncio.StreamWriter, seen: Callable[[bytes], Awaitable[None]]
) -> None:
    try:
        while data := await source.read(65536):
            await seen(data)
            target.write(data)
            await target.drain()
    except ConnectionError:
        pass
    finally:
        target.close()


@asynccontextmanager
async def cable(host: str, port: int) -> AsyncIterator[Cable]:
    """Lay a cable to a server."""
    laid = Cable(host, port)
    server = await asyncio.start_server(laid.connected, "127.0.0.1", 0)
    laid.port = server.sockets[0].getsockname()[1]
    try:
        yield laid
    finally:
        server.close()
        await laid.close()
