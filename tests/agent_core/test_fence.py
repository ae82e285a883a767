"""A run that is no longer ours writes nothing more."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import tool

from agent_core.fence import FencedError
from tests.agent_core.harness import bench
from tests.emulators.openai import Call, Fault, OpenAIEmulator, Reply, sequence


class Lease:
    """A guard that can be lost."""

    def __init__(self) -> None:
        self.ours = True

    def check(self) -> None:
        if not self.ours:
            raise FencedError


async def test_a_fenced_run_asks_no_model_and_stores_nothing(tmp_path: Path, store_url: str | None) -> None:
    lease = Lease()
    lease.ours = False
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path, store_url) as b:
        with pytest.raises(FencedError):
            await b.run("r1", guard=lease.check)
        assert emulator.requests == []
        assert await b.runtime.history("thread") == []


async def test_losing_the_run_in_a_tool_stops_it_before_the_result_is_stored(
    tmp_path: Path, store_url: str | None
) -> None:
    lease = Lease()
    done: list[str] = []

    @tool
    async def act() -> str:
        """Do something, and lose the run meanwhile."""
        done.append("acted")
        lease.ours = False
        return "acted"

    script = sequence(
        [Reply(calls=(Call("act", {}, "c1"),))], then=lambda r: Reply(", ".join(r.tool_results()))
    )
    async with OpenAIEmulator(script) as emulator, bench(emulator, tmp_path, store_url, tools=[act]) as b:
        before = asyncio.all_tasks()
        with pytest.raises(FencedError):
            await b.run("r1", guard=lease.check)
        assert len(emulator.requests) == 1
        assert _ours(asyncio.all_tasks() - before) == []
        done.clear()
        end = await b.answer("r1")
        assert done == ["acted"], "the successor has to run the tool: no result was stored"
        assert end.answer == "acted"
        assert lease.ours is False


async def test_a_fenced_process_cannot_end_a_run_either(tmp_path: Path, store_url: str | None) -> None:
    lease = Lease()

    @tool
    async def act() -> str:
        """Lose the run."""
        lease.ours = False
        return "acted"

    script = sequence([Reply(calls=(Call("act", {}, "c1"),))])
    async with OpenAIEmulator(script) as emulator, bench(emulator, tmp_path, store_url, tools=[act]) as b:
        with pytest.raises(FencedError):
            await b.run("r1", guard=lease.check)
        with pytest.raises(FencedError):
            await b.runtime.abandon("thread", "r1", "(stopped)", lease.check)
        assert [item.text for item in await b.runtime.history("thread")] == ["hello"]
        lease.ours = True
        await b.runtime.abandon("thread", "r1", "(stopped)", lease.check)
        assert [item.text for item in await b.runtime.history("thread")] == ["hello", "(stopped)"]


async def test_losing_the_run_between_tries_stops_the_next_try(tmp_path: Path) -> None:
    lease = Lease()

    async def pause(_: float) -> None:
        lease.ours = False

    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path, sleep=pause) as b:
        emulator.fail(Fault.of_status(500))
        with pytest.raises(FencedError):
            await b.run("r1", guard=lease.check)
        assert len(emulator.requests) == 1


def _ours(tasks: set[asyncio.Task[Any]]) -> list[asyncio.Task[Any]]:
    return [task for task in tasks if "uvicorn" not in repr(task.get_coro())]
