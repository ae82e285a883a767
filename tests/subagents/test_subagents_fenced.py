"""A process that lost its run stops inside subagents too, and writes nothing more."""

import itertools
from collections.abc import Callable
from pathlib import Path

from agent_core.events import RunEnded, RunEvent
from agent_core.fence import FencedError
from tests.agent_core.harness import Bench, bench
from tests.emulators.openai import Call, OpenAIEmulator, Reply
from tests.emulators.openai.wire import ChatRequest
from tests.subagents.script import delegating, task


def looking(prompt: str, request: ChatRequest) -> Reply:
    """Call one tool, then report."""
    if request.tool_results():
        return Reply(f"report on {prompt}")
    return Reply(calls=(Call("ls", {"path": "/mnt/user-data/outputs"}, "look"),))


def fenced_at(count: int) -> Callable[[], None]:
    """Give a guard that says from its ``count``-th question on that the run is somebody else's."""
    asked = itertools.count(1)

    def guard() -> None:
        if next(asked) >= count:
            raise FencedError

    return guard


async def run_until_fenced(b: Bench, point: int) -> list[RunEvent] | None:
    """Run thread ``point`` until its fence falls; None when it ends before."""
    thread = f"thread-{point}"
    try:
        await b.run("r1", "compare", thread=thread, guard=fenced_at(point))
    except FencedError:
        return await b.run("r1", "compare", thread=thread)
    return None


async def test_wherever_the_fence_falls_the_successor_finishes(
    tmp_path: Path, database_url: str | None
) -> None:
    points = 0
    script = delegating(looking, [task("tea"), task("coffee")])
    async with OpenAIEmulator(script) as emulator, bench(emulator, tmp_path, database_url) as b:
        for point in itertools.count(1, 2):
            events = await run_until_fenced(b, point)
            if events is None:
                break
            points += 1
            end = events[-1]
            assert isinstance(end, RunEnded)
            assert end.answer == "report on tea | report on coffee", point
    assert points > 10
