"""``/skills``: what the agent can be asked for by name."""

from agent_core.text import one_line
from bot.commands.registry import Command, CommandContext

_SHOWN = 160


async def skills(context: CommandContext) -> str:
    """List the skills there are."""
    if not context.skills:
        return "There are no skills here."
    lines = [
        f"- `{skill.name if context.commands.find(skill.name) else '/' + skill.name}` – "
        f"{one_line(skill.description, _SHOWN)}"
        for skill in context.skills
    ]
    return "\n".join([*lines, "", "Ask as usual, or write `/name` and what to do."])


COMMANDS = (Command("skills", "", "List what I have instructions for", skills),)
