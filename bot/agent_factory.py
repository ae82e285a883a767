"""From settings to the agent."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from langchain_core.tools import BaseTool

from agent_core.checkpoints import Checkpoints
from agent_core.middlewares.chain import ChainParts
from agent_core.models.catalog import ModelCatalog
from agent_core.models.errors import ModelConfigError
from agent_core.models.prices import Prices
from agent_core.models.spec import ModelSpec
from agent_core.net import SafeHttp
from agent_core.runtime import AgentRuntime, AgentSettings
from agent_core.sandbox.sandbox import SandboxProvider
from agent_core.skills.loader import load_skills
from agent_core.skills.skill import Skill, SkillSet
from agent_core.subagents.spec import SubagentConfigError
from agent_core.tools.bash import make_bash
from agent_core.tools.feeds import make_read_feed
from agent_core.tools.scheduling import TaskPort, scheduling_tools
from bot.agent_chain import chain_settings
from bot.agent_subagents import subagent_specs
from bot.config import Config, ModelConfig, Settings
from bot.errors import OperatorError

log = logging.getLogger(__name__)


def build_catalog(config: Config) -> ModelCatalog:
    """The configured models, each resolved and built, so that a wrong one is found at start. Blocks.

    Raises:
        OperatorError: One is wrong.
    """
    try:
        catalog = ModelCatalog(
            [_spec(model) for model in config.models],
            config.default_model,
            config.limits.model_timeout_seconds,
        )
        catalog.check()
    except ModelConfigError as error:
        raise OperatorError(f"config.yaml: {error}") from None
    return catalog


def _spec(model: ModelConfig) -> ModelSpec:
    return ModelSpec(
        name=model.name,
        use=model.use,
        arguments=model.class_arguments(),
        supports_vision=model.supports_vision,
        supports_thinking=model.supports_thinking,
        thinking_on=model.thinking_on,
        thinking_off=model.thinking_off,
        context_window=model.context_window,
        prices=None if model.prices is None else Prices(**model.prices.model_dump()),
        show_reasoning=model.show_reasoning,
    )


def find_skills(settings: Settings) -> SkillSet:
    """The skills there are, as they stay until the process ends; what is wrong is logged. Blocks."""
    found = load_skills(settings.skills_directory)
    for problem in found.problems:
        log.warning("A skill is left out. %s", problem)
    return found


def _runtime(
    catalog: ModelCatalog,
    checkpoints: Checkpoints,
    tools: Sequence[BaseTool],
    agent: AgentSettings,
    parts: ChainParts,
) -> AgentRuntime:
    try:
        return AgentRuntime(catalog, checkpoints, tools, agent, parts)
    except SubagentConfigError as error:
        raise OperatorError(f"config.yaml: subagents: {error}") from None


@asynccontextmanager
async def open_runtime(
    settings: Settings,
    catalog: ModelCatalog,
    checkpoints: Checkpoints,
    sandboxes: SandboxProvider | None,
    parts: ChainParts,
    skills: tuple[Skill, ...],
    tasks: TaskPort,
) -> AsyncIterator[AgentRuntime]:
    """The agent with its tools."""
    config = settings.config
    http = await asyncio.to_thread(SafeHttp)
    try:
        read_feed = make_read_feed(http, settings.feed_directories(), settings.directory)
        agent = AgentSettings(
            instructions=config.agent.instructions,
            chain=chain_settings(config),
            subagents=subagent_specs(config),
            skills=skills,
        )
        # Where no command can run, the model is offered no tool for it.
        bash = [make_bash(sandboxes, config.sandbox.command_seconds)] if sandboxes else []
        parts = replace(parts, sandboxes=sandboxes)
        yield _runtime(catalog, checkpoints, [*bash, read_feed, *scheduling_tools(tasks)], agent, parts)
    finally:
        await http.aclose()
