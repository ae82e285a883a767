"""Subagents survive the death of their process: they go on where they stood."""

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

from agent_core.events import RunEvent, SubagentStarted, SubagentStep, SubagentTool, ToolStarted
from tests.agent_core.test_crash_and_resume import ROOT
from tests.emulators.openai import Call, OpenAIEmulator, Reply
from tests.emulators.openai.wire import ChatRequest
from tests.subagents.crash_worker import HANGING, Worker
from tests.subagents.script import asked_by_subagents, delegating, subagent_events, task

# Each point takes seconds of work; `make chaos` goes through all of them.
STEP = 1 if os.environ.get("HART_CHAOS") == "full" else 14
ANSWER = "coffee done | tea done"
MARKS = {"coffee-1", "coffee-2", "tea-1", "tea-2"}


def two_marks(prompt: str, request: ChatRequest) -> Reply:
    """One call, then another, then the report."""
    done = len(request.tool_results())
    if done == 2:
        return Reply(f"{prompt} done")
    return Reply(calls=(Call("mark", {"word": f"{prompt}-{done + 1}"}, id=f"call-{done + 1}"),))


SCRIPT = delegating(two_marks, [task("coffee"), task("tea")])


async def start(
    emulator: OpenAIEmulator, home: Path, url: str | None, what: str
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.subagents.crash_worker",
        emulator.base_url,
        emulator.api_key,
        str(home),
        url or "-",
        what,
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        # A group of its own, so that its children die with it.
        start_new_session=True,
    )


async def until_told(worker: asyncio.subprocess.Process, *beginnings: str) -> None:
    """Read the worker's lines until one with each beginning has come."""
    assert worker.stdout is not None
    waiting = set(beginnings)
    async with asyncio.timeout(60):
        while waiting:
            line = (await worker.stdout.readline()).decode()
            assert line, "the worker ended"
            waiting -= {beginning for beginning in waiting if line.startswith(beginning)}


@pytest.mark.timeout(170)
async def test_dying_at_any_point_repeats_only_what_was_not_stored(
    tmp_path: Path, database_url: str | None
) -> None:
    async with OpenAIEmulator(SCRIPT) as emulator:
        worker = await start(emulator, tmp_path, database_url, str(STEP))
        out, err = await worker.communicate()
    assert worker.returncode == 0, err.decode()
    points = [json.loads(line) for line in out.decode().splitlines()]
    # Eight model calls, six tool calls and the writes around them.
    assert len(points) > 30 // STEP
    for found in points:
        assert found["answer"] == ANSWER, found
        assert set(found["marks"]) == MARKS, found
        # At most the call that was going on, in each of the two.
        assert len(found["marks"]) <= len(MARKS) + 2, found
    assert len({found["input_tokens"] for found in points}) == 1, "usage is whole after a resume"


async def test_a_killed_process_is_followed_by_one_that_repeats_only_the_call_that_was_going_on(
    tmp_path: Path, database_url: str | None
) -> None:
    async with OpenAIEmulator(SCRIPT) as emulator:
        worker = await start(emulator, tmp_path, database_url, "hang")
        try:
            await until_told(worker, HANGING, "SubagentEnded(task_id='task-coffee'")
        finally:
            os.killpg(worker.pid, signal.SIGKILL)
            await worker.communicate()
        before = len(emulator.requests)
        events: list[RunEvent] = []
        successor = Worker(emulator.base_url, emulator.api_key, tmp_path, database_url)
        found = await successor.run("thread", told=events.append)
        later = emulator.requests[before:]
        asked = [request.last_user_text for request in asked_by_subagents(later)]
    assert found["answer"] == ANSWER
    assert Counter(found["marks"]) == {"coffee-1": 1, "coffee-2": 1, "tea-1": 1, "tea-2": 2}
    assert asked == ["tea"], "the one that had its report asks nothing more, the other once"
    assert len(later) == 2
    told = subagent_events(events, "tea")
    assert told[0] == SubagentStarted("task-tea", "general-purpose", "Look at tea")
    assert SubagentTool("task-tea", ToolStarted("call-2", "mark", "Using mark")) in told
    assert [event.number for event in told if isinstance(event, SubagentStep)] == [2, 3]
