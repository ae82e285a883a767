"""Ask one thing and wait for the whole answer."""

import asyncio
import uuid
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from channels.console.client import LocalClient, LocalServerError
from channels.feed import FeedEntry
from channels.views import RunView


@dataclass(frozen=True, slots=True)
class SavedFile:
    """A file that came with an answer.

    Args:
        name: As Hart calls it.
        path: Where it was saved.
    """

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class Answer:
    """All parts of one answer.

    Args:
        text: Markdown.
        files: Saved already.
        failed: True when the run failed; the text says why.
    """

    text: str
    files: tuple[SavedFile, ...]
    failed: bool


async def ask(
    client: LocalClient,
    chat: str,
    text: str,
    files: Sequence[Path],
    downloads: Path,
    timeout: float | None,
    on_progress: Callable[[RunView], None] | None = None,
) -> Answer:
    """Post a message, wait for the final entry that answers it, and save the files.

    Args:
        client: The server.
        chat: Name of the chat.
        text: The message.
        files: What to attach.
        downloads: Where files of the answer go.
        timeout: Seconds to wait for the answer; None waits as long as it takes.
        on_progress: Told how the run stands.

    Raises:
        LocalServerError: The message could not be sent, or a file not fetched.
        TimeoutError: No answer in time. It will be in the chat once it is there.
    """
    message_id = str(uuid.uuid4())
    cursor = (await client.history(chat, 1)).cursor
    await client.post(chat, text, message_id, files, patience=min(timeout or 30.0, 30.0))
    async with asyncio.timeout(timeout):
        entries = await _answer(client, chat, cursor, message_id, on_progress)
    saved = [
        SavedFile(file.name, await client.download(chat, file, downloads))
        for entry in entries
        for file in entry.files
    ]
    answer = "\n\n".join(entry.text for entry in entries if entry.text)
    return Answer(answer, tuple(saved), any(entry.failed for entry in entries))


async def _answer(
    client: LocalClient,
    chat: str,
    cursor: str,
    message_id: str,
    on_progress: Callable[[RunView], None] | None,
) -> list[FeedEntry]:
    # By id, since an entry may come twice around a reconnect.
    parts: dict[str, FeedEntry] = {}
    async with aclosing(client.follow(chat, cursor)) as events:
        async for event in events:
            if isinstance(event, FeedEntry) and event.in_reply_to == message_id:
                parts[event.id] = event
                if event.final:
                    return list(parts.values())
            elif isinstance(event, RunView) and event.in_reply_to == message_id and on_progress is not None:
                on_progress(event)
    raise LocalServerError("The server ended the conversation.")
