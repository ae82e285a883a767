"""The commands there are."""

import difflib
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from agent_core.models.catalog import ModelCatalog
from bot.store.database import Database
from channels.messages import InboundMessage


@dataclass(frozen=True, slots=True)
class CommandContext:
    """What a command may look at and use.

    Args:
        message: The message that is the command.
        argument: What followed the command's name.
        thread_id: The chat's current thread; for ``/new`` the one just opened.
        inbound_id: The ledger's row of the command.
        database: The ledger.
        models: The models there are.
        stop: Ends a run by its id, wherever it runs.
        commands: The registry itself.
        now: When the command is carried out.
    """

    message: InboundMessage
    argument: str
    thread_id: str
    inbound_id: int
    database: Database
    models: ModelCatalog
    stop: Callable[[str], Awaitable[None]]
    commands: "Registry"
    now: datetime


CommandHandler = Callable[[CommandContext], Awaitable[str]]
"""Carries a command out and returns the reply (markdown). May be called twice for one command: idempotent."""


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
    """

    name: str
    usage: str
    summary: str
    handler: CommandHandler
    opens_thread: bool = False


class Registry:
    """Finds commands by name."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._commands = {command.name: command for command in commands}

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands.values())

    def find(self, name: str) -> Command | None:
        """The command of that name."""
        return self._commands.get(name)

    def nearest(self, name: str) -> Command | None:
        """The command somebody who typed ``name`` probably meant."""
        near = difflib.get_close_matches(name, self._commands, n=1, cutoff=0.5)
        return self._commands[near[0]] if near else None
