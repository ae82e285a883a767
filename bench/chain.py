"""What the chain of middlewares adds to the bare agent, for each call of the model."""

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool

from agent_core.checkpoints import Checkpoints, open_checkpoints
from agent_core.context import RunContext
from agent_core.lead_agent import LeadAgent, make_lead_agent
from agent_core.middlewares.chain import ChainBuilder, ChainParts, ChainSettings
from agent_core.models.catalog import ModelCatalog
from agent_core.models.offline import OfflineChatModel
from agent_core.models.offline_script import Call, Reply
from agent_core.models.spec import ModelSpec
from agent_core.paths import ThreadFiles
from bench.figures import Figure

LOOPS = 25
"""Model calls in one run; each but the last calls a tool."""


class LoopingModel(OfflineChatModel):
    """Calls a tool until it has called it often enough, then answers."""

    def _reply(self, messages: Sequence[BaseMessage], options: dict[str, Any]) -> Reply:
        done = sum(isinstance(message, ToolMessage) for message in messages)
        if done < LOOPS - 1:
            return Reply("Next.", (Call(f"call-{done}", "look_up", {"number": done}),))
        return Reply("That is all.")


@tool
async def look_up(number: int) -> str:
    """Look something up."""
    return f"result {number} " * 20


async def cost_per_loop(root: Path, storage: str, database_url: str | None, runs: int) -> list[Figure]:
    """Processor time and checkpoints of one call of the model, bare and through all layers.

    Processor time and not time on the clock: what else the machine does then hardly counts. Both agents
    take turns, and the median run counts.
    """
    models = ModelCatalog([ModelSpec("looping", "bench.chain:LoopingModel")], None, 60)
    chain = ChainBuilder(models, ChainSettings(), ChainParts()).build("looping")
    model = models.get("looping")
    async with open_checkpoints(database_url, root / "checkpoints.db") as store:
        bare = make_lead_agent(model, [look_up], (), store.saver, "Be brief.")
        full = make_lead_agent(model, [look_up], chain, store.saver, "Be brief.")
        took: dict[str, list[float]] = {"bare": [], "full": []}
        written: dict[str, float] = {}
        for number in range(runs + 1):
            for name, agent in (("bare", bare), ("full", full)):
                thread = f"{name}-{number}"
                seconds = await run_once(agent, thread, root / "files" / thread)
                written[name] = await checkpoints_of(store, thread) / LOOPS
                if number:  # the first warms up
                    took[name].append(seconds / LOOPS * 1000)
    plain, whole = statistics.median(took["bare"]), statistics.median(took["full"])
    note = f"{LOOPS} model calls a run, {runs} runs, processor time"
    return [
        Figure(storage, "model loop, bare agent", plain, "ms", note),
        Figure(storage, "model loop, full chain", whole, "ms", note),
        Figure(storage, "model loop, added by the chain", whole - plain, "ms", note),
        Figure(storage, "checkpoints a loop, bare agent", written["bare"], "", note),
        Figure(storage, "checkpoints a loop, full chain", written["full"], "", note),
    ]


async def run_once(agent: LeadAgent, thread: str, files: Path) -> float:
    """Run an agent to its end in a new thread; returns the processor time in seconds."""
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    context = RunContext(thread, thread, ThreadFiles(files))
    asked = {"messages": [HumanMessage("Look it all up.", id=thread)]}
    began = time.process_time()
    async for _ in agent.astream(asked, config, context=context, stream_mode="updates", durability="sync"):
        pass
    return time.process_time() - began


async def checkpoints_of(store: Checkpoints, thread: str) -> int:
    """How many checkpoints a thread has."""
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    return len([found async for found in store.saver.alist(config)])
