"""Fetching what people attached."""

from pathlib import Path

from channels.backoff import Pause
from channels.errors import AttachmentError
from channels.fetching import Fetcher, Reading, too_large, write_new
from channels.messages import Attachment
from channels.telegram.api import ApiCall, ApiError, BotApi, RefusedError

DOWNLOAD_LIMIT = 20 * 1024 * 1024
"""Bytes of one file that a bot may fetch (Bot API ``getFile``)."""


async def fetch(client: BotApi, attachment: Attachment, target: Path, max_bytes: int, pause: Pause) -> None:
    """Write an attachment to ``target``, which must not exist; nothing is left there on failure.

    Raises:
        AttachmentError: It is too large or gone, or Telegram stays out of reach.
    """
    limit = min(max_bytes, DOWNLOAD_LIMIT)
    if attachment.size is not None and attachment.size > limit:
        raise too_large(limit)
    await Fetcher(_READING, pause).fetch(lambda: _download(client, attachment.ref, target, limit))


async def _download(client: BotApi, ref: str, target: Path, limit: int) -> None:
    match await client.call(ApiCall("getFile", {"file_id": ref})):
        case {"file_path": str(file_path)} if _is_relative(file_path):
            pass
        case _:
            raise AttachmentError("Telegram did not say where the file is. Please send it again.")
    async with client.open_file(file_path) as chunks:
        await write_new(target, chunks, limit)


def _is_relative(file_path: str) -> bool:
    """Own Bot API servers in local mode give a path on their own disk, which is not ours to read."""
    return not file_path.startswith("/") and ".." not in file_path.split("/")


def _passing(fault: ApiError) -> bool:
    return not isinstance(fault, RefusedError) or fault.code >= 500 or fault.code == 429


def _asked(fault: ApiError) -> float | None:
    return fault.retry_after if isinstance(fault, RefusedError) else None


def _lost(fault: ApiError) -> AttachmentError:
    if isinstance(fault, RefusedError) and "too big" in fault.description:
        return too_large(DOWNLOAD_LIMIT)
    return AttachmentError("Telegram did not hand the file over. Please send it again.")


_READING = Reading(kind=ApiError, passing=_passing, asked=_asked, lost=_lost)
