"""An agent: one model, its tools and its middlewares, as a LangGraph graph."""

from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph

from agent_core.context import RunContext
from agent_core.middlewares.composed import composed
from agent_core.state import ThreadState

LeadAgent = CompiledStateGraph[Any, RunContext, Any, Any]

MODEL_NODE = "model"
TOOLS_NODE = "tools"


def make_lead_agent(
    model: BaseChatModel,
    tools: Sequence[BaseTool],
    middleware: Sequence[AgentMiddleware[Any, Any, Any]],
    checkpointer: BaseCheckpointSaver[Any] | None,
    system_prompt: str,
    name: str = "lead",
) -> LeadAgent:
    """Build the graph. It takes some 20 ms, so build one per model and keep it.

    Args:
        model: The chat model.
        tools: In the order the model sees them; keep it, providers cache by it.
        middleware: Outermost first, from ``middlewares/chain.py``.
        checkpointer: Where the state is kept; None for a subagent, which inherits it.
        system_prompt: The same text for every thread.
        name: Tells agents apart in traces.
    """
    return create_agent(
        model,
        list(tools),
        system_prompt=system_prompt,
        middleware=composed(middleware),
        state_schema=ThreadState,
        context_schema=RunContext,
        checkpointer=checkpointer,
        name=name,
    )
