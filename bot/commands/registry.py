"""The commands there are."""

import difflib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from agent_core.models.catalog import ModelCatalog
from agent_core.modes import Mode
from agent_core.skills.skill import Skill
from bot.buttons import Reply
from bot.config.channels import Access, Role
from bot.pairing import Pairing
from bot.store.database import Database
from bot.task_desk import TaskDesk
from channels.messages import InboundMessage


@dataclass(frozen=True, slots=True)
class CommandContext:
    """What a command may look at and use.

    Args:
        message: The message that is the command.
        role: What its sender may do.
        argument: What followed the command's name.
        thread_id: The chat's current thread; for ``/new`` the one just opened.
        inbound_id: The ledger's row of the command.
        database: The ledger.
        models: The models there are.
        mode: The mode of threads that chose none.
        stop: Ends a run by its thread and id, wherever it runs.
        pairing: Lets people in and shuts them out.
        tasks: Keeps tasks for people.
        access: The rules of the account it came to.
        commands: The registry itself.
        skills: The skills there are.
        now: When the command is carried out.
    """

    message: InboundMessage
    role: Role
    argument: str
    thread_id: str
    inbound_id: int
    database: Database
    models: ModelCatalog
    mode: Mode
    stop: Callable[[str, str], Awaitable[None]]
    pairing: Pairing
    tasks: TaskDesk
    access: Access
    commands: "Registry"
    skills: Sequence[Skill]
    now: datetime


CommandHandler = Callable[[CommandContext], Awaitable[str | Reply]]
"""Carries a command out and returns the reply: markdown, alone or with buttons.

May be called twice for one command, after a crash: it is idempotent.
"""


def all_kept(argument: str) -> str:
    """For commands without secrets in them."""
    return argument


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Args:
        name: Without the slash.
        usage: What may follow the name, such as ``[name]``; empty when nothing may.
        summary: One line for ``/help``.
        handler: Carries it out.
        opens_thread: True when the command starts a new thread. That is done as the command is stored, so
            that a message right behind it lands in the new thread.
        role: The least role that may use it, unless the configuration says otherwise.
        kept: What to keep in the ledger of what followed the name, once the command is done.
    """

    name: str
    usage: str
    summary: str
    handler: CommandHandler
    opens_thread: bool = False
    role: Role = Role.MEMBER
    kept: Callable[[str], str] = all_kept


class Registry:
    """Finds commands by name."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._commands = {command.name: command for command in commands}

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands.values())

    def find(self, name: str) -> Command | None:
        """The command of that name."""
        return self._commands.get(name)

    def nearest(self, name: str, others: Iterable[str] = ()) -> str | None:
        """The name of the command that somebody who typed ``name`` probably meant, or one of ``others``."""
        near = difflib.get_close_matches(name, [*self._commands, *others], n=1, cutoff=0.5)
        return near[0] if near else None
