"""Which role a command needs. Pure."""

from collections.abc import Mapping

from bot.commands.registry import Command, Registry
from bot.config.channels import Access, Role
from bot.config.explain import suggestion
from bot.errors import OperatorError

_THOSE = {Role.OWNER: "owners", Role.ADMIN: "admins", Role.MEMBER: "members"}


def role_for(command: Command, access: Access) -> Role:
    """The least role that may use a command on an account."""
    return access.commands.get(command.name, command.role)


def denial(command: Command | None, role: Role, access: Access) -> str | None:
    """What to tell somebody who may not use a command; None when they may, or when there is none."""
    if command is None:
        return None
    needed = role_for(command, access)
    return None if role.covers(needed) else f"`/{command.name}` is for {_THOSE[needed]}."


def check_commands(rules: Mapping[tuple[str, str], Access], commands: Registry) -> None:
    """Find roles for commands that do not exist: somebody meant to keep one from people, and did not.

    Raises:
        OperatorError: There are some.
    """
    known = [command.name for command in commands]
    wrong = [
        f"channels.yaml: {channel}/{account}: access.commands.{name}: there is no such command; "
        f"{suggestion(name, known)}"
        for (channel, account), access in rules.items()
        for name in access.commands
        if name not in known
    ]
    if wrong:
        raise OperatorError("\n".join(wrong))
