"""The emulated model as a process of its own, so that its work is not counted as Hart's."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from tests.emulators.openai import ChatRequest, OpenAIEmulator, Reply
from tests.emulators.openai.server import API_KEY

ANSWER = "We ship on Thursday after the tests have passed; the notes are written by whoever merges last. " * 3


def answer(_request: ChatRequest) -> Reply:
    """What the emulated model says, in chunks of the size that providers send."""
    return Reply(ANSWER, chunk_size=24)


def long_answer(_request: ChatRequest) -> Reply:
    """The same, of 1 KiB."""
    return Reply((ANSWER * 4)[:1024], chunk_size=24)


class ModelServer:
    """The process seen from here.

    Args:
        base_url: Where it listens.
    """

    api_key = API_KEY

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.arrivals: list[float] = []
        """When each request had arrived: ``time.monotonic()``, which all processes of a machine share."""
        self._changed = asyncio.Condition()

    async def wait_for(self, count: int, timeout: float = 60.0) -> None:
        """Wait until so many requests have arrived."""
        async with asyncio.timeout(timeout), self._changed:
            await self._changed.wait_for(lambda: len(self.arrivals) >= count)

    async def read(self, lines: asyncio.StreamReader) -> None:
        """Note arrivals until the process ends."""
        async for line in lines:
            self.arrivals.append(float(line))
            async with self._changed:
                self._changed.notify_all()


@asynccontextmanager
async def model_server(*, long: bool = False) -> AsyncIterator[ModelServer]:
    """Run the process while the block runs; with ``long``, its answers are of 1 KiB."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench.model_server",
        *(["long"] if long else []),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    server = ModelServer((await process.stdout.readline()).decode().strip())
    reader = asyncio.create_task(server.read(process.stdout))
    try:
        yield server
    finally:
        process.terminate()
        await process.wait()
        await reader


async def _serve(responder: Callable[[ChatRequest], Reply], told: Callable[[object], None]) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with OpenAIEmulator(responder) as emulator:
        told(emulator.base_url)
        seen = 0
        stopping = asyncio.create_task(stop.wait())
        while not stop.is_set():
            news = asyncio.create_task(
                emulator.wait_for(lambda seen=seen: len(emulator.requests) > seen, 3600)
            )
            await asyncio.wait({news, stopping}, return_when=asyncio.FIRST_COMPLETED)
            for request in emulator.requests[seen:]:
                told(request.at)
            seen = len(emulator.requests)
            news.cancel()


def _tell(value: object) -> None:
    print(value, flush=True)


if __name__ == "__main__":
    asyncio.run(_serve(long_answer if "long" in sys.argv[1:] else answer, _tell))
