"""Stopping a run, and ending one that will not go on."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import tool

from agent_core.events import RunEvent, ToolFinished, ToolStarted
from tests.agent_core.harness import Bench, bench
from tests.emulators.openai import Call, Fault, OpenAIEmulator, Reply, sequence


@tool
async def slow(seconds: float) -> str:
    """Wait."""
    await asyncio.sleep(seconds)
    return f"waited {seconds}"


@tool
async def fast(word: str) -> str:
    """Answer at once."""
    return f"fast {word}"


async def cancel_when(
    b: Bench, seen: Callable[[list[RunEvent]], bool] | None = None, also: Any = None
) -> float:
    """Start run r1 and cancel it when the time has come; give the seconds cancelling took."""
    before = asyncio.all_tasks()
    events: list[RunEvent] = []
    reached = asyncio.Event()

    async def consume() -> None:
        async for event in b.runtime.run(b.request("r1", "stop me")):
            events.append(event)
            if seen is not None and seen(events):
                reached.set()

    task = asyncio.create_task(consume())
    await (asyncio.wait_for(reached.wait(), 10) if also is None else also)
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    took = time.monotonic() - started
    left = [other for other in asyncio.all_tasks() - before if not _of_the_server(other)]
    assert left == []
    return took


def _count(events: list[RunEvent], kind: type) -> int:
    return sum(isinstance(event, kind) for event in events)


def _of_the_server(task: asyncio.Task[Any]) -> bool:
    return "uvicorn" in repr(task.get_coro()) or "Emulator" in repr(task.get_coro())


async def test_cancelling_in_a_model_call_is_quick_and_leaves_nothing(
    tmp_path: Path, store_url: str | None
) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path, store_url) as b:
        emulator.fail(Fault.hang())
        asked = emulator.wait_for(lambda: len(emulator.requests) == 1)
        assert await cancel_when(b, also=asked) < 1
        await emulator.wait_for(lambda: emulator.disconnects == 1)
        await b.runtime.abandon("thread", "r1", "(stopped)")
        later = await b.answer("r2", "next")
        history = [item.text for item in await b.runtime.history("thread")]
    assert later.answer == "answer to: next"
    assert history == ["stop me", "(stopped)", "next", "answer to: next"]


async def test_cancelling_in_a_tool_is_quick_and_finished_results_are_kept(
    tmp_path: Path, store_url: str | None
) -> None:
    calls = (
        Call("fast", {"word": "one"}, "c1"),
        Call("slow", {"seconds": 60}, "c2"),
        Call("fast", {"word": "2"}, "c3"),
    )
    script = sequence([Reply(calls=calls)])
    async with (
        OpenAIEmulator(script) as emulator,
        bench(emulator, tmp_path, store_url, tools=[slow, fast]) as b,
    ):
        assert await cancel_when(b, lambda events: _count(events, ToolFinished) == 2) < 1
        await b.runtime.abandon("thread", "r1", "(stopped)")
        await b.runtime.abandon("thread", "r1", "(stopped twice)")
        later = await b.answer("r2", "next")
        history = [item.text for item in await b.runtime.history("thread")]
    assert history == ["stop me", "(stopped)", "next", "answer to: next"]
    assert later.answer == "answer to: next"
    sent = emulator.requests[-1].messages
    results = {m["tool_call_id"]: m["content"] for m in sent if m["role"] == "tool"}
    assert results["c1"] == "fast one"
    assert results["c3"] == "fast 2"
    assert "interrupted" in results["c2"]


async def test_a_cancelled_run_goes_on_when_it_is_run_again(tmp_path: Path, store_url: str | None) -> None:
    calls = (Call("fast", {"word": "one"}, "c1"), Call("slow", {"seconds": 0.3}, "c2"))
    script = sequence([Reply(calls=calls)], then=lambda request: Reply(" and ".join(request.tool_results())))
    async with (
        OpenAIEmulator(script) as emulator,
        bench(emulator, tmp_path, store_url, tools=[slow, fast]) as b,
    ):
        await cancel_when(b, lambda events: _count(events, ToolStarted) == 2)
        events = await b.run("r1", "stop me")
    assert events[-1].answer == "fast one and waited 0.3"
    assert "slow" in [event.name for event in events if isinstance(event, ToolStarted)]
    assert len(emulator.requests) == 2


async def test_abandoning_what_never_began_or_has_ended_changes_nothing(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path) as b:
        await b.runtime.abandon("thread", "r1", "(stopped)")
        assert await b.runtime.history("thread") == []
        end = await b.answer("r1")
        await b.runtime.abandon("thread", "r1", "(stopped)")
        await b.runtime.abandon("thread", "r0", "(stopped)")
        assert [item.text for item in await b.runtime.history("thread")] == ["hello", end.answer]


async def test_an_older_unfinished_run_is_ended_before_a_new_one_begins(tmp_path: Path) -> None:
    script = sequence([Reply(calls=(Call("slow", {"seconds": 60}, "c1"),))])
    async with OpenAIEmulator(script) as emulator, bench(emulator, tmp_path, tools=[slow]) as b:
        await cancel_when(b, lambda events: _count(events, ToolStarted) == 1)
        end = await b.answer("r2", "next")
        history = [item.text for item in await b.runtime.history("thread")]
    assert end.answer == "answer to: next"
    assert history[0] == "stop me"
    assert "interrupted" in history[1]
    assert history[2:] == ["next", "answer to: next"]
    assert all(request.status == 200 for request in emulator.requests)


async def test_two_threads_run_at_once_in_one_task_without_mixing_their_guards(tmp_path: Path) -> None:
    asked: list[str] = []
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path) as b:
        runs = [
            b.runtime.run(b.request("r1", thread=name, guard=lambda name=name: asked.append(name)))
            for name in ("a", "b")
        ]
        ends = []
        while runs:
            for run in list(runs):
                event = await anext(run, None)
                if event is None:
                    runs.remove(run)
                else:
                    ends.append(event)
    assert asked.count("a") == asked.count("b") > 2
    assert sum(type(event).__name__ == "RunEnded" for event in ends) == 2
