"""Conversations as an operator sees them: listed, read, taken out, deleted."""

import asyncio
from dataclasses import dataclass
from functools import partial

from agent_core.runtime import AgentRuntime
from bot.home import Home
from bot.store import archive
from bot.store.database import Database


@dataclass(frozen=True, slots=True)
class ThreadSummary:
    """One conversation; times are ISO 8601 in UTC."""

    id: str
    title: str | None
    channel: str
    chat: str
    messages: int
    tokens: int
    created: str
    latest: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was said and what came of it.

    Args:
        at: When it came in, ISO 8601 in UTC.
        sender: Who said it, as the platform knows them.
        text: What they said.
        state: Where the run stands; None before it began.
        answer: What was answered; None for nothing yet.
        files: Names of the files that were sent.
    """

    at: str
    sender: str
    text: str
    state: str | None
    answer: str | None
    files: tuple[str, ...]


class Archive:
    """All conversations.

    Args:
        database: The ledger.
        runtime: The agent, for titles and its memory of a thread.
        home: Where the files are.
    """

    def __init__(self, database: Database, runtime: AgentRuntime, home: Home) -> None:
        self._database = database
        self._runtime = runtime
        self._home = home

    async def threads(self, limit: int) -> list[ThreadSummary]:
        """The conversations used last."""
        found = []
        for row in await self._database.run(partial(archive.threads, limit=limit)):
            state = await self._runtime.state(row.thread.id)
            found.append(
                ThreadSummary(
                    id=row.thread.id,
                    title=state.get("title"),
                    channel=row.channel,
                    chat=row.chat,
                    messages=row.messages,
                    tokens=row.spent,
                    created=row.thread.created_at.isoformat(timespec="seconds"),
                    latest=row.latest.isoformat(timespec="seconds"),
                )
            )
        return found

    async def matching(self, prefix: str) -> list[str]:
        """Ids that begin so, at most a few."""
        return await self._database.run(partial(archive.matching, prefix=prefix))

    async def exchanges(self, thread_id: str) -> list[Exchange]:
        """All that was said in a conversation."""
        turns = await self._database.run(partial(archive.turns, thread_id=thread_id))
        return [
            Exchange(
                at=turn.said.received_at.isoformat(timespec="seconds"),
                sender=turn.said.sender_id,
                text=turn.said.text,
                state=turn.run.state if turn.run else None,
                answer=turn.run.answer if turn.run else None,
                files=tuple(file.file_name or "" for file in turn.files),
            )
            for turn in turns
        ]

    async def delete(self, thread_id: str) -> None:
        """Delete what was said in a conversation, what the agent knows of it, and its files.

        Raises:
            ThreadBusyError: Something of it is open; nothing was deleted.
        """
        runs = await self._database.run(partial(archive.forget_thread, thread_id=thread_id))
        await self._runtime.delete(thread_id)
        await asyncio.to_thread(self._home.forget, runs, thread_id)
