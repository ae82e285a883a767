"""From settings to the kinds of subagents."""

from agent_core.subagents.spec import SubagentSpec
from bot.config import Config


def subagent_specs(config: Config) -> tuple[SubagentSpec, ...]:
    """The kinds the operator defined."""
    return tuple(
        SubagentSpec(
            name=kind.name,
            description=kind.description,
            prompt=kind.prompt,
            tools=kind.tools,
            skills=kind.skills,
            model=kind.model,
            max_turns=kind.max_turns,
            seconds=kind.timeout_seconds,
        )
        for kind in config.subagents.kinds
    )
