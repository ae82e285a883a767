"""Heartbeats: the list that a conversation wants looked after, and when no model is needed for it."""

import asyncio
from dataclasses import dataclass, replace
from functools import partial

from sqlmodel import Session

from agent_core.paths import WORKSPACE, PathRefusedError, ThreadFiles
from bot.home import Home
from bot.store import threads
from bot.store.database import Database
from bot.task_spec import TaskSpec
from scheduler.heartbeat import PROMPT, is_empty
from scheduler.plan import Fire

HEARTBEAT_FILE = f"{WORKSPACE}/HEARTBEAT.md"
"""Where the list lies in a conversation's files, for the agent and for people."""

MAX_BYTES = 20_000


@dataclass(frozen=True, slots=True)
class Pulse:
    """What a heartbeat found before any model was asked.

    Args:
        prompt: What to ask the agent.
        quiet: Why not to ask it; None when it is to be asked.
    """

    prompt: str
    quiet: str | None = None

    def skipping(self, fire: Fire) -> Fire:
        """The fire, skipped when there is nothing to ask."""
        return fire if self.quiet is None else replace(fire, skipped=self.quiet)


class Heartbeats:
    """Reads and writes the lists.

    Args:
        database: The ledger.
        home: Where the files of threads lie.
    """

    def __init__(self, database: Database, home: Home) -> None:
        self._database = database
        self._home = home

    async def look(self, spec: TaskSpec) -> Pulse:
        """Whether a conversation's heartbeat needs the agent now."""
        assert spec.thread_key is not None, "a heartbeat is that of a conversation"
        busy = await self._database.run(partial(_is_busy, key=spec.thread_key))
        if busy:
            return Pulse("", "the conversation was busy")
        text = await self.read(spec.thread_key)
        if is_empty(text):
            return Pulse("", "nothing on the list")
        return Pulse(f"{PROMPT}\n\n{text.strip()}")

    async def read(self, thread_key: str) -> str:
        """The list of a conversation: that of its latest thread that has one; empty if none has."""
        for thread in await self._database.run(partial(threads.generations, key=thread_key)):
            text = await asyncio.to_thread(_read, self._home.thread_files(thread.id))
            if text is not None:
                return text
        return ""

    async def write(self, thread_id: str, text: str) -> None:
        """Put another list in the place of a thread's."""
        data = text.encode("utf-8", "replace")[:MAX_BYTES]
        await asyncio.to_thread(self._home.thread_files(thread_id).write, HEARTBEAT_FILE, data)


def _is_busy(session: Session, key: str) -> bool:
    thread = threads.current(session, key)
    return thread is not None and threads.running(session, thread.id) is not None


def _read(files: ThreadFiles) -> str | None:
    try:
        with files.open(HEARTBEAT_FILE) as source:
            return source.read(MAX_BYTES).decode("utf-8", "replace")
    except PathRefusedError:
        return None
