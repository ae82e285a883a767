"""How long three subagents of two seconds each take side by side."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tools import tool

from agent_core.checkpoints import open_checkpoints
from agent_core.events import SubagentEnded, SubagentStarted
from agent_core.models.catalog import ModelCatalog
from agent_core.models.offline import OfflineChatModel
from agent_core.models.offline_script import Call, Reply
from agent_core.models.spec import ModelSpec
from agent_core.paths import ThreadFiles
from agent_core.runtime import AgentRuntime, RunRequest
from bench.figures import Figure

SUBAGENTS = 3
WORK_SECONDS = 2.0


class DelegatingModel(OfflineChatModel):
    """Gives three tasks at once; as a subagent uses one tool, then reports."""

    def _reply(self, messages: Sequence[BaseMessage], options: dict[str, Any]) -> Reply:
        done = sum(isinstance(message, ToolMessage) for message in messages)
        if done:
            return Reply("Here is what came of it. " * 20)
        if messages[0].text.startswith("You are a subagent"):
            return Reply("I begin.", (Call("work", "work", {}),))
        arguments = {"description": "Look", "prompt": "Look it up.", "subagent_type": "general-purpose"}
        return Reply(calls=tuple(Call(f"task-{n}", "task", arguments) for n in range(SUBAGENTS)))


@tool
async def work() -> str:
    """Work for two seconds."""
    await asyncio.sleep(WORK_SECONDS)
    return "done " * 100


async def side_by_side(root: Path, storage: str, database_url: str | None, runs: int) -> list[Figure]:
    """From the first subagent's start to the last one's end, tools, models and checkpoints included."""
    models = ModelCatalog([ModelSpec("delegating", "bench.subagents:DelegatingModel")], None, 60)
    took = []
    async with open_checkpoints(database_url, root / "checkpoints.db") as store:
        runtime = AgentRuntime(models, store, [work])
        for number in range(runs + 1):
            thread = f"thread-{number}"
            files = ThreadFiles(root / "files" / thread)
            request = RunRequest(thread, thread, "Look it up.", "delegating", files, lambda: None)
            seconds = await _between_first_and_last(runtime, request)
            if number:  # the first builds the graphs
                took.append(seconds)
    note = f"{SUBAGENTS} of {WORK_SECONDS:g} s each, {runs} runs, the slowest"
    return [Figure(storage, "three subagents of 2 s", max(took), "s", note)]


async def _between_first_and_last(runtime: AgentRuntime, request: RunRequest) -> float:
    began: list[float] = []
    ended: list[float] = []
    async for event in runtime.run(request):
        if isinstance(event, SubagentStarted):
            began.append(time.monotonic())
        elif isinstance(event, SubagentEnded):
            ended.append(time.monotonic())
    assert len(began) == len(ended) == SUBAGENTS
    return max(ended) - min(began)
