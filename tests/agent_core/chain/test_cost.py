"""What the chain costs in steps; ``python -m bench --only chain`` measures the time."""

from pathlib import Path

from agent_core.checkpoints import open_checkpoints
from agent_core.lead_agent import LeadAgent, make_lead_agent
from agent_core.middlewares.chain import ChainBuilder, ChainParts, ChainSettings
from agent_core.middlewares.composed import composed
from agent_core.models.catalog import ModelCatalog
from agent_core.models.spec import ModelSpec
from bench.chain import LOOPS, checkpoints_of, look_up, run_once


async def test_the_chain_adds_no_checkpoint_and_no_node(tmp_path: Path) -> None:
    models = ModelCatalog([ModelSpec("looping", "bench.chain:LoopingModel")], None, 60)
    chain = ChainBuilder(models, ChainSettings(), ChainParts()).build("looping")
    written: dict[str, int] = {}
    nodes: dict[str, set[str]] = {}
    async with open_checkpoints(None, tmp_path / "c.db") as store:
        agents: dict[str, LeadAgent] = {
            "bare": make_lead_agent(models.get("looping"), [look_up], (), store.saver, ""),
            "full": make_lead_agent(models.get("looping"), [look_up], chain, store.saver, ""),
        }
        for name, agent in agents.items():
            await run_once(agent, name, tmp_path / name)
            written[name] = await checkpoints_of(store, name)
            nodes[name] = set(agent.get_graph().nodes)
    assert written["full"] == written["bare"] > LOOPS
    assert nodes["full"] == nodes["bare"]
    assert len(composed(chain)) == 1
