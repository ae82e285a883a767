"""A running emulator, an inbox, and channels that connect them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import pytest

from channels.slack.channel import SlackChannel
from tests.emulators.slack import SlackEmulator, User
from tests.telegram.memory_inbox import MemoryInbox

Listening = Callable[..., AbstractAsyncContextManager["asyncio.Task[None]"]]


class Seconds:
    """A clock that tests move; it does not run by itself."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def ann(slack: SlackEmulator) -> User:
    return slack.user("Ann Lee")


@pytest.fixture
def inbox() -> MemoryInbox:
    return MemoryInbox()


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def pauses() -> list[float]:
    """How long the channel would have waited, each time; it waits a moment only."""
    return []


@pytest.fixture
async def build(
    slack: SlackEmulator, pauses: list[float], seconds: Seconds
) -> AsyncIterator[Callable[..., SlackChannel]]:
    """Makes channels to the emulator and closes them."""
    built: list[SlackChannel] = []

    async def pause(span: float) -> None:
        pauses.append(span)
        slack.notify()
        await asyncio.sleep(0.005)

    def make(**settings: Any) -> SlackChannel:
        defaults: dict[str, Any] = {
            "account": "main",
            "bot_token": slack.bot_token,
            "app_token": slack.app_token,
            "base_url": slack.base_url,
            "response_seconds": 5.0,
            "ping_seconds": 1.0,
            "limits": (),
            "pause": pause,
            "monotonic": seconds,
            "chance": lambda: 1.0,
        }
        built.append(SlackChannel(**(defaults | settings)))
        return built[-1]

    yield make
    for channel in built:
        await channel.close()


@pytest.fixture
async def channel(build: Callable[..., SlackChannel]) -> SlackChannel:
    return build()


@pytest.fixture
def listening(inbox: MemoryInbox, slack: SlackEmulator) -> Listening:
    """A channel that receives within the block; by a socket, unless told otherwise."""

    @asynccontextmanager
    async def listen(channel: SlackChannel, *, connected: bool = True) -> AsyncIterator["asyncio.Task[None]"]:
        task = asyncio.create_task(channel.receive(inbox))
        try:
            if connected:
                await slack.wait_for(lambda: slack.sockets or task.done())
            yield task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    return listen
