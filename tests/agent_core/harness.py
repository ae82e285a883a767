"""Builds a real runtime on a real saver, talking through ChatOpenAI to the emulated model."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool

from agent_core.checkpoints import Checkpoints, open_checkpoints
from agent_core.events import RunEnded, RunEvent
from agent_core.lead_agent import MODEL_NODE, make_lead_agent
from agent_core.middlewares.chain import ChainParts, ChainSettings
from agent_core.models.catalog import ModelCatalog
from agent_core.models.offline import OfflineChatModel
from agent_core.models.spec import ModelSpec
from agent_core.paths import ThreadFiles
from agent_core.runtime import AgentRuntime, AgentSettings, RunRequest, Upload
from tests.emulators.openai import OpenAIEmulator

CHAT_OPENAI = "langchain_openai:ChatOpenAI"


def catalog(emulator: OpenAIEmulator, *, timeout: float = 30.0, **arguments: Any) -> ModelCatalog:
    """Give a catalog with one model, ``test-model``, at the emulator."""
    return ModelCatalog([spec(emulator, **arguments)], None, timeout)


def spec(
    emulator: OpenAIEmulator, name: str = "test-model", *, vision: bool = False, **arguments: Any
) -> ModelSpec:
    """Give what is configured for a model at the emulator."""
    given = {"model": name, "base_url": emulator.base_url, "api_key": emulator.api_key, **arguments}
    return ModelSpec(name, CHAT_OPENAI, given, supports_vision=vision)


def chain_settings(**settings: Any) -> AgentSettings:
    """Give settings for the agent of which only the chain's matter."""
    return AgentSettings(chain=ChainSettings(**settings))


@dataclass
class Bench:
    """A runtime and what it needs.

    Args:
        runtime: Under test.
        checkpoints: Its store.
        home: Directory for the files of threads.
        pauses: Seconds it wanted to wait between tries; none of them passed.
        skills: What threads read as ``/mnt/skills``.
    """

    runtime: AgentRuntime
    checkpoints: Checkpoints
    home: Path
    pauses: list[float] = field(default_factory=list)
    skills: Path | None = None

    def request(
        self,
        run_id: str,
        text: str = "hello",
        *,
        thread: str = "thread",
        guard: Callable[[], None] = lambda: None,
        uploads: Sequence[Upload] = (),
        notes: Sequence[str] = (),
        model: str = "test-model",
        **options: Any,
    ) -> RunRequest:
        """Give a request for a run."""
        files = self.files(thread)
        return RunRequest(run_id, thread, text, model, files, guard, tuple(uploads), tuple(notes), **options)

    def files(self, thread: str = "thread") -> ThreadFiles:
        """Give the files of a thread."""
        return ThreadFiles(self.home / thread, self.skills)

    async def write(self, thread: str, messages: Sequence[BaseMessage]) -> None:
        """Write messages into a thread's history, as something else than a run may do."""
        await self.update(thread, {"messages": list(messages)})

    async def update(self, thread: str, values: Mapping[str, Any]) -> None:
        """Write into a thread's state, as something else than a run may do."""
        agent = make_lead_agent(OfflineChatModel(), (), (), self.checkpoints.saver, "")
        config: RunnableConfig = {"configurable": {"thread_id": thread}}
        await agent.aupdate_state(config, dict(values), as_node=MODEL_NODE)

    async def run(self, run_id: str, text: str = "hello", **options: Any) -> list[RunEvent]:
        """Run to the end and give all events."""
        return [event async for event in self.runtime.run(self.request(run_id, text, **options))]

    async def answer(self, run_id: str, text: str = "hello", **options: Any) -> RunEnded:
        """Run to the end and give the last event."""
        last = (await self.run(run_id, text, **options))[-1]
        assert isinstance(last, RunEnded)
        return last


@asynccontextmanager
async def bench(
    emulator: OpenAIEmulator,
    home: Path,
    url: str | None = None,
    *,
    tools: Sequence[BaseTool] = (),
    settings: AgentSettings | None = None,
    models: ModelCatalog | None = None,
    sleep: Callable[[float], Awaitable[None]] | None = None,
    skills: Path | None = None,
    **parts: Any,
) -> AsyncIterator[Bench]:
    """Open a store and build a runtime on it; pauses between tries are noted, not waited for.

    Further arguments are parts of the chain, such as ``now``.
    """
    pauses: list[float] = []

    async def note(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    async with open_checkpoints(url, home / "checkpoints.db") as checkpoints:
        asks = ChainParts(sleep=sleep or note, **parts)
        runtime = AgentRuntime(models or catalog(emulator), checkpoints, tools, settings, asks)
        yield Bench(runtime, checkpoints, home / "files", pauses, skills)
