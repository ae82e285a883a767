"""The registry of the built-in commands, in the order ``/help`` shows them."""

from bot.commands import conversation, information, models, pairing
from bot.commands.registry import Registry


def builtin_commands() -> Registry:
    """All built-in commands."""
    return Registry([*information.COMMANDS, *conversation.COMMANDS, *models.COMMANDS, *pairing.COMMANDS])
