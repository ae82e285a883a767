"""The subagents of a process: their kinds, checked once, and their graphs, built at their first task."""

import asyncio
from collections.abc import Callable, Sequence

from langchain_core.tools import BaseTool

from agent_core.lead_agent import LeadAgent, make_lead_agent
from agent_core.middlewares.chain import LAYER_TOOLS, Chain
from agent_core.models.catalog import ModelCatalog
from agent_core.skills.skill import Skill
from agent_core.subagents.prompt import subagent_prompt
from agent_core.subagents.spec import (
    SubagentConfigError,
    SubagentSettings,
    SubagentSpec,
    check_skills,
    skills_of,
    subagent_specs,
    tools_of,
)
from agent_core.subagents.task_tool import make_task_tool

ChainOf = Callable[[str, int, Sequence[str] | None], Chain]
"""Gives the middlewares of a subagent: see :meth:`ChainBuilder.build_for_subagent`."""


class SubagentTeam:
    """All subagents.

    Args:
        models: The configured models.
        tools: What the lead agent has beside ``task``.
        settings: What is configured.
        instructions: The operator's, as the lead agent has them.
        chain_of: Gives the middlewares.
        skills: Those there are.

    Raises:
        SubagentConfigError: A kind is defined in a way that cannot work.
    """

    def __init__(
        self,
        models: ModelCatalog,
        tools: Sequence[BaseTool],
        settings: SubagentSettings,
        instructions: str,
        chain_of: ChainOf,
        skills: Sequence[Skill] = (),
    ) -> None:
        self._models = models
        self._tools = tools
        self._settings = settings
        self._instructions = instructions
        self._chain_of = chain_of
        self._skills = skills
        self._specs = subagent_specs(settings, [*(tool.name for tool in tools), *LAYER_TOOLS])
        for spec in self._specs.values():
            if spec.model is not None and spec.model not in models.names:
                raise SubagentConfigError(f"{spec.name}: there is no model {spec.model!r}")
            check_skills(spec, [skill.name for skill in skills])
        self._agents: dict[tuple[str, str], LeadAgent] = {}

    def task_tool(self, model: str) -> BaseTool:
        """Give the ``task`` tool for lead agents with this model."""

        async def agent_of(spec: SubagentSpec) -> LeadAgent:
            return await self._agent(spec, spec.model or model)

        return make_task_tool(self._specs, self._settings, agent_of)

    async def _agent(self, spec: SubagentSpec, model: str) -> LeadAgent:
        key = (spec.name, model)
        if key not in self._agents:
            # The first use of a model may import for seconds; the loop goes on meanwhile.
            built = await asyncio.to_thread(self._build, spec, model)
            self._agents.setdefault(key, built)
        return self._agents[key]

    def _build(self, spec: SubagentSpec, model: str) -> LeadAgent:
        return make_lead_agent(
            self._models.get(model),
            tools_of(spec, self._tools),
            self._chain_of(model, spec.max_turns, spec.tools),
            None,
            subagent_prompt(spec, self._instructions, skills_of(spec, self._skills)),
            name=spec.name,
        )
