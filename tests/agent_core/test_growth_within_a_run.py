"""A run of many steps does not pile up what it stores."""

from pathlib import Path

import pytest
from langchain_core.runnables import RunnableConfig

from agent_core.events import SubagentTool, ToolFinished
from tests.agent_core.harness import Bench, bench
from tests.emulators.openai import Call, OpenAIEmulator, Reply
from tests.emulators.openai.wire import ChatRequest
from tests.subagents.script import delegating, task

LOOPS = 40
LOOPS_OF_EACH = 15
THREAD: RunnableConfig = {"configurable": {"thread_id": "thread"}}


def looping(prompt: str, request: ChatRequest) -> Reply:
    """Call a tool often, each time for something else."""
    done = len(request.tool_results())
    if done == (LOOPS_OF_EACH if prompt else LOOPS):
        return Reply("that is all")
    return Reply(calls=(Call("ls", {"path": f"/mnt/user-data/outputs/{done}"}, f"call-{done}"),))


async def stored(b: Bench) -> int:
    """How many steps the store holds."""
    return len([kept async for kept in b.checkpoints.saver.alist(THREAD)])


@pytest.mark.parametrize("inside", [False, True], ids=["lead agent", "subagents"])
async def test_steps_that_nothing_needs_any_more_go_while_it_runs(
    tmp_path: Path, database_url: str | None, inside: bool
) -> None:
    lead = delegating(looping, [task("tea"), task("rum"), task("ale")])
    async with (
        OpenAIEmulator(lead if inside else lambda request: looping("", request)) as emulator,
        bench(emulator, tmp_path, database_url) as b,
    ):
        most = 0
        async for event in b.runtime.run(b.request("r1", "look")):
            told = event.event if isinstance(event, SubagentTool) else event
            if isinstance(told, ToolFinished):
                most = max(most, await stored(b))
    assert set(getattr(event, "answer", "").split(" | ")) == {"that is all"}
    assert 10 < most < LOOPS, "each loop stores two steps"
