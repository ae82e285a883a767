"""The ``subagents:`` section: how many may work, and kinds beside the built-in ones."""

from bot.config.section import Name, PositiveInt, PositiveSeconds, Section, Slug, Text


class SubagentConfig(Section):
    """One kind of subagent.

    Args:
        name: What the agent calls it. The name of a built-in kind replaces that one.
        description: Tells the agent what it is for.
        prompt: What the subagent is told about its work.
        tools: Names of the tools it may use; None for all but ``task``.
        skills: Names of the skills it is told of; None for all, if it has ``read_file``.
        model: Name of the model; None for the one that the conversation uses.
        max_turns: How often it may ask its model; then it has to sum up.
        timeout_seconds: How long it may work.
    """

    name: Slug
    description: Text
    prompt: Text
    tools: tuple[Name, ...] | None = None
    skills: tuple[Slug, ...] | None = None
    model: Name | None = None
    max_turns: PositiveInt = 50
    timeout_seconds: PositiveSeconds = 900


class SubagentsConfig(Section):
    """Subagents.

    Args:
        at_once: How many the agent may begin in one response.
        per_run: How many in one run.
        kinds: Kinds beside the built-in ones.
    """

    at_once: PositiveInt = 3
    per_run: PositiveInt = 6
    kinds: tuple[SubagentConfig, ...] = ()
