"""A small HTTP/1.1 server on 127.0.0.1 that answers each path with given bytes, sound or not."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Handler = Callable[[asyncio.StreamWriter], Awaitable[None]]


def page(body: bytes, status: str = "200 OK", **headers: str) -> bytes:
    """A whole response; header names are given with underscores."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    """A response that sends the client elsewhere."""
    return page(b"", status, Location=location)


def zipped(body: bytes, **headers: str) -> bytes:
    """A gzip response."""
    return page(gzip.compress(body), Content_Encoding="gzip", **headers)


class LoopbackServer:
    """Answers by path; what it was asked is kept in ``heads``."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes | Handler] = {}
        self.heads: list[str] = []
        self.port = 0

    @property
    def paths(self) -> list[str]:
        """The paths asked for, in order."""
        return [head.split(" ")[1] for head in self.heads]

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.heads.append(head)
            found = self.pages.get(head.split(" ")[1], page(b"nothing here", "404 Not Found"))
            if isinstance(found, bytes):
                writer.write(found)
                await writer.drain()
            else:
                await found(writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serving() -> AsyncIterator[LoopbackServer]:
    """Run a server on a free port."""
    site = LoopbackServer()
    server = await asyncio.start_server(site.answer, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    async with server:
        yield site
