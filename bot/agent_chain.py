"""From settings to what stands around the agent's calls."""

import importlib
from zoneinfo import ZoneInfo

from agent_core.middlewares.chain import ChainParts, ChainSettings
from agent_core.middlewares.guardrail import GuardrailProvider
from agent_core.middlewares.llm_error_handling import RetryPolicy
from agent_core.middlewares.loop_detection import LoopLimits
from agent_core.middlewares.token_budget import TokenLimits
from agent_core.middlewares.tool_output_budget import OutputBudget
from agent_core.summary import SummaryLimits
from bot.clock import Clock
from bot.config import Config
from bot.errors import OperatorError
from bot.spending import DailySpending
from bot.store.database import Database

_SANDBOX_SECONDS = 60
"""What making and tidying a sandbox may take besides the command itself."""


def chain_settings(config: Config) -> ChainSettings:
    """The numbers of all layers."""
    agent, limits = config.agent, config.limits
    return ChainSettings(
        max_model_calls=agent.max_model_calls,
        retry=RetryPolicy(retries=limits.model_retries, call_seconds=limits.model_timeout_seconds),
        fallback_models=agent.fallback_models,
        loops=LoopLimits(**agent.loop.model_dump()),
        tokens=TokenLimits(**agent.token_budget.model_dump()),
        outputs=OutputBudget(**agent.tool_output.model_dump()),
        tool_seconds=agent.tool_timeout_seconds,
        # A command ends by its own limit, not by that of all tools.
        tool_seconds_by_tool={"bash": config.sandbox.command_seconds + _SANDBOX_SECONDS},
        denied_tools=agent.denied_tools,
        summary=SummaryLimits(**agent.summarization.model_dump(exclude={"model"})),
        summary_model=agent.summarization.model,
        title_model=agent.title_model,
        zone=ZoneInfo(agent.zone),
        subagents_at_once=config.subagents.at_once,
        subagents_per_run=config.subagents.per_run,
    )


def chain_parts(config: Config, database: Database, now: Clock) -> ChainParts:
    """What the layers ask. May import for a while.

    Raises:
        OperatorError: The guardrail cannot be built.
    """
    return ChainParts(
        spending=DailySpending(database, now, ZoneInfo(config.agent.zone)),
        guardrail=None if config.agent.guardrail is None else _guardrail(config.agent.guardrail),
        now=now,
    )


def _guardrail(use: str) -> GuardrailProvider:
    module_name, _, class_name = use.partition(":")
    try:
        guardrail = getattr(importlib.import_module(module_name), class_name)()
    except Exception as error:  # noqa: BLE001 - a class of the operator's choice may raise anything
        # Without it the agent must not run.
        raise OperatorError(
            f"config.yaml: agent.guardrail: {use} cannot be built: {type(error).__name__}: {error}"
        ) from None
    if not callable(getattr(guardrail, "rule", None)):
        raise OperatorError(f"config.yaml: agent.guardrail: {use} has no method `rule`")
    provider: GuardrailProvider = guardrail
    return provider
