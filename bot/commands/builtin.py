"""The registry of the built-in commands, in the order ``/help`` shows them."""

from bot.commands import conversation, heartbeat, information, mode, models, pairing, skills, tasks, zone
from bot.commands.registry import Registry


def builtin_commands() -> Registry:
    """All built-in commands."""
    parts = (information, conversation, models, mode, skills, tasks, heartbeat, zone, pairing)
    return Registry([command for part in parts for command in part.COMMANDS])
