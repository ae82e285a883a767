"""``/help`` and ``/whoami``."""

from bot.commands.permission import role_for
from bot.commands.registry import Command, CommandContext


async def help_(context: CommandContext) -> str:
    """List the commands that whoever asks may use."""
    lines = [
        f"- `/{command.name}{' ' + command.usage if command.usage else ''}` – {command.summary}"
        for command in context.commands
        if context.role.covers(role_for(command, context.access))
    ]
    return "\n".join(["Write to me as you would to a colleague, and send files along. Commands:", "", *lines])


async def whoami(context: CommandContext) -> str:
    """Tell people how they are known: what an operator needs to give them access."""
    message = context.message
    lines = [
        f"- You are `{message.sender.id}`{' (' + message.sender.name + ')' if message.sender.name else ''}",
        f"- Role: {context.role}",
        f"- Channel: `{message.address.channel}`, account `{message.address.account}`",
        f"- Chat: `{message.address.chat_id}` ({message.chat_kind.value})",
    ]
    if message.address.platform_thread:
        lines.append(f"- Thread or topic: `{message.address.platform_thread}`")
    return "\n".join(lines)


COMMANDS = (
    Command("help", "", "Show this", help_),
    Command("whoami", "", "Show how I know you and this chat", whoami),
)
