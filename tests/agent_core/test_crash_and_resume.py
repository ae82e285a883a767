"""A run survives the death of its process at any point."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agent_core.harness import bench
from tests.emulators.openai import Call, Fault, OpenAIEmulator, Reply
from tests.emulators.openai.wire import ChatRequest

# Each point takes a second of work; `make chaos` goes through all of them.
STEP = 1 if os.environ.get("HART_CHAOS") == "full" else 3

ROOT = Path(__file__).parents[2]


def two_rounds(request: ChatRequest) -> Reply:
    """First two calls at once, then one more, then the answer."""
    results = request.tool_results()
    name = request.last_user_text.removeprefix("do ")
    if len(results) == 0:
        return Reply(calls=tuple(Call("mark", {"word": f"{name}-{x}"}, id=f"call_{name}_{x}") for x in "ab"))
    if len(results) == 2:
        return Reply(calls=(Call("mark", {"word": f"{name}-c"}, id=f"call_{name}_c"),))
    return Reply(f"{name} done: {', '.join(results)}")


def answer_of(run: str) -> str:
    """What ``two_rounds`` says at the end."""
    return f"{run} done: marked {run}-a, marked {run}-b, marked {run}-c"


async def start_worker(
    emulator: OpenAIEmulator, home: Path, url: str | None, step: int = 1
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.agent_core.crash_worker",
        emulator.base_url,
        emulator.api_key,
        str(home),
        url or "-",
        str(step),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        # A group of its own, so that its children die with it.
        start_new_session=True,
    )


@pytest.mark.timeout(170)
async def test_dying_at_any_point_loses_nothing_and_repeats_only_what_was_not_stored(
    tmp_path: Path, store_url: str | None
) -> None:
    async with OpenAIEmulator(two_rounds) as emulator:
        worker = await start_worker(emulator, tmp_path, store_url, STEP)
        out, err = await worker.communicate()
    assert worker.returncode == 0, err.decode()
    points: list[dict[str, Any]] = [json.loads(line) for line in out.decode().splitlines()]
    # Four model calls, three tool calls and the writes around them.
    assert len(points) > 12 // STEP
    for found in points:
        point = found["point"]
        assert found["answer"] == answer_of("r1"), point
        assert found["status"] == "done", point
        assert found["history"] == ["do r1", answer_of("r1")], point
        marks = found["marks"]
        assert set(marks) == {"r1-a", "r1-b", "r1-c"}, point
        # A result that was not stored is worked out again; at most the two of one step.
        assert len(marks) <= 5, point
    assert len({found["input_tokens"] for found in points}) == 1, "usage is whole after a resume"
    assert all(request.status == 200 for request in emulator.requests)


async def test_a_process_killed_in_a_model_call_is_resumed_by_another(
    tmp_path: Path, store_url: str | None
) -> None:
    async with OpenAIEmulator() as emulator:
        emulator.fail(Fault.hang())
        worker = await start_worker(emulator, tmp_path, store_url)
        try:
            await emulator.wait_for(lambda: len(emulator.requests) == 1, timeout=60)
        finally:
            os.killpg(worker.pid, signal.SIGKILL)
            await worker.communicate()
        await emulator.wait_for(lambda: emulator.disconnects == 1, timeout=10)
        async with bench(emulator, tmp_path, store_url) as b:
            end = await b.answer("r1", "do r1", thread="thread-1")
            history = [item.text for item in await b.runtime.history("thread-1")]
    assert end.answer == "answer to: do r1"
    assert history == ["do r1", "answer to: do r1"]
    assert len(emulator.requests) == 2
    assert emulator.requests[0].messages == emulator.requests[1].messages
