"""A running emulator, an inbox, and channels that connect them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import pytest

from channels.telegram.channel import TelegramChannel
from tests.emulators.telegram import TelegramEmulator
from tests.telegram.memory_inbox import MemoryInbox

Listening = Callable[..., AbstractAsyncContextManager["asyncio.Task[None]"]]


@pytest.fixture
async def tg() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as emulator:
        yield emulator


@pytest.fixture
def inbox() -> MemoryInbox:
    return MemoryInbox()


@pytest.fixture
def pauses() -> list[float]:
    """How long the channel would have waited, each time; it waits a moment only."""
    return []


@pytest.fixture
async def build(tg: TelegramEmulator, pauses: list[float]) -> AsyncIterator[Callable[..., TelegramChannel]]:
    """Makes channels to the emulator and closes them."""
    built: list[TelegramChannel] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        tg.notify()
        await asyncio.sleep(0.005)

    def make(**settings: Any) -> TelegramChannel:
        defaults: dict[str, Any] = {
            "account": "main",
            "token": tg.token,
            "base_url": tg.base_url,
            "poll_seconds": 2,
            "response_seconds": 5.0,
            "limits": (),
            "pause": pause,
            "chance": lambda: 1.0,
        }
        built.append(TelegramChannel(**(defaults | settings)))
        return built[-1]

    yield make
    for channel in built:
        await channel.close()


@pytest.fixture
async def channel(build: Callable[..., TelegramChannel]) -> TelegramChannel:
    return build()


@pytest.fixture
def listening(inbox: MemoryInbox) -> Listening:
    """A channel that receives within the block."""

    @asynccontextmanager
    async def listen(channel: TelegramChannel) -> AsyncIterator["asyncio.Task[None]"]:
        task = asyncio.create_task(channel.receive(inbox))
        try:
            yield task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    return listen
