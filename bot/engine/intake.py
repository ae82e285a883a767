"""Getting the files of a message into its thread."""

import asyncio
import logging
import mimetypes
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from agent_core.paths import UPLOADS, ThreadFiles
from agent_core.runtime import Upload
from bot.directory import ChannelDirectory
from bot.store.runs import Turn
from channels.channel import Channel
from channels.errors import AttachmentError
from channels.file_names import safe_name
from channels.messages import Attachment

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Intake:
    """What became of a message's files.

    Args:
        uploads: Those that lie in the thread's uploads now.
        notes: What to say about the others.
    """

    uploads: tuple[Upload, ...] = ()
    notes: tuple[str, ...] = ()


_INTAKE = TypeAdapter(Intake)


def dump_intake(intake: Intake) -> str:
    """An intake as JSON."""
    return _INTAKE.dump_json(intake).decode()


def load_intake(body: str) -> Intake:
    """The intake of :func:`dump_intake`."""
    return _INTAKE.validate_json(body)


class Fetcher:
    """Fetches attachments into a thread's uploads.

    Args:
        channels: Where attachments come from.
        max_bytes: Cap per file.
    """

    def __init__(self, channels: ChannelDirectory, max_bytes: int) -> None:
        self._channels = channels
        self._max_bytes = max_bytes

    async def fetch(self, turn: Turn, files: ThreadFiles) -> Intake:
        """Fetch all files of a turn; what fails becomes a note, and never loses the text."""
        uploads: list[Upload] = []
        notes: list[str] = []
        channel = self._channels.find(turn.message.address)
        for number, attachment in enumerate(turn.message.attachments):
            if channel is None:
                notes.append(f"{attachment.name} could not be fetched: its channel is off.")
                continue
            try:
                uploads.append(
                    await self._fetch_one(channel, attachment, files, f"{turn.inbound_id}-{number}")
                )
            except AttachmentError as error:
                log.info("attachment of inbound %d not fetched: %s", turn.inbound_id, error)
                notes.append(f"{attachment.name} could not be fetched: {error}")
        return Intake(tuple(uploads), tuple(notes))

    async def _fetch_one(
        self, channel: Channel, attachment: Attachment, files: ThreadFiles, mark: str
    ) -> Upload:
        folder = files.root / "uploads"
        unfinished = folder / f".{mark}.part"
        await asyncio.to_thread(unfinished.unlink, missing_ok=True)
        await channel.fetch(attachment, unfinished, self._max_bytes)
        target = await asyncio.to_thread(_settle, unfinished, folder, safe_name(attachment.name), mark)
        mime = attachment.mime or mimetypes.guess_type(target.name)[0]
        return Upload(f"{UPLOADS}/{target.name}", target.name, target.stat().st_size, mime)


def _settle(unfinished: Path, folder: Path, name: str, mark: str) -> Path:
    """Give a fetched file its readable name, with a mark when that name is taken."""
    target = folder / name
    if target.exists():
        target = target.with_name(f"{target.stem}-{mark}{target.suffix}")
    return unfinished.replace(target)
