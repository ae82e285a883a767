"""A running emulator, an inbox, and channels that connect them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import pytest

from channels.feishu.channel import FeishuChannel
from channels.feishu.transport import Timing
from tests.emulators.feishu import Chat, FeishuEmulator, User
from tests.telegram.memory_inbox import MemoryInbox

Listening = Callable[..., AbstractAsyncContextManager["asyncio.Task[None]"]]
Build = Callable[..., FeishuChannel]


@pytest.fixture
def fs(feishu: FeishuEmulator) -> FeishuEmulator:
    return feishu


@pytest.fixture
def ann(fs: FeishuEmulator) -> User:
    return fs.user("Ann")


@pytest.fixture
def chat(fs: FeishuEmulator, ann: User) -> Chat:
    """Ann's direct chat with the bot."""
    return fs.p2p(ann)


@pytest.fixture
def inbox() -> MemoryInbox:
    return MemoryInbox()


@pytest.fixture
def pauses() -> list[float]:
    """How long the channel would have waited, each time; it waits a moment only."""
    return []


@pytest.fixture
async def build(fs: FeishuEmulator, pauses: list[float]) -> AsyncIterator[Build]:
    """Makes channels to the emulator and closes them."""
    built: list[FeishuChannel] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        fs.notify()
        await asyncio.sleep(0.005)

    def make(**settings: Any) -> FeishuChannel:
        defaults: dict[str, Any] = {
            "account": "main",
            "app_id": fs.app_id,
            "app_secret": fs.app_secret,
            "base_url": fs.base_url,
            "response_seconds": 5.0,
            "limits": (),
            "timing": Timing(ping=0.1, pong=3.0),
            "pause": pause,
            "chance": lambda: 1.0,
        }
        built.append(FeishuChannel(**(defaults | settings)))
        return built[-1]

    yield make
    for channel in built:
        await channel.close()


@pytest.fixture
async def channel(build: Build) -> FeishuChannel:
    return build()


@pytest.fixture
def listening(fs: FeishuEmulator, inbox: MemoryInbox) -> Listening:
    """A channel that receives within the block, which begins once it is connected."""

    @asynccontextmanager
    async def listen(
        channel: FeishuChannel, *, connected: bool = True
    ) -> AsyncIterator["asyncio.Task[None]"]:
        before = fs.opened
        task = asyncio.create_task(channel.receive(inbox))
        task.add_done_callback(lambda _: fs.notify())
        try:
            if connected:
                await fs.wait_for(lambda: task.done() or (fs.opened > before and fs.connections))
            yield task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    return listen
