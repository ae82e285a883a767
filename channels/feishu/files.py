"""Fetching what people attached."""

from functools import partial
from pathlib import Path

from channels.backoff import Pause
from channels.errors import AttachmentError
from channels.feishu.api import TOKEN_CODES, ApiCall, ApiError, OpenApi, RefusedError
from channels.feishu.content import split_ref
from channels.fetching import Fetcher, Reading, too_large, write_new
from channels.messages import Attachment

DOWNLOAD_LIMIT = 100 * 1024 * 1024
"""Bytes of one file that an app may fetch (open platform, "get resource of a message")."""

_TOO_LARGE = 234037
_NOT_HANDED_OUT = 234043  # files of cards and of forwarded messages
_NO_SCOPE = 99991672


async def fetch(client: OpenApi, attachment: Attachment, target: Path, max_bytes: int, pause: Pause) -> None:
    """Write an attachment to ``target``, which must not exist; nothing is left there on failure.

    Raises:
        AttachmentError: It is too large or gone, or the platform stays out of reach.
    """
    limit = min(max_bytes, DOWNLOAD_LIMIT)
    if attachment.size is not None and attachment.size > limit:
        raise too_large(limit)
    try:
        message_id, kind, key = split_ref(attachment.ref)
    except ValueError:
        raise AttachmentError("The file cannot be found any more. Please send it again.") from None
    call = ApiCall("GET", f"/open-apis/im/v1/messages/{message_id}/resources/{key}", query={"type": kind})
    reading = Reading(kind=ApiError, passing=_passing, asked=_asked, lost=partial(_lost, limit=limit))
    await Fetcher(reading, pause).fetch(lambda: _download(client, call, target, limit))


async def _download(client: OpenApi, call: ApiCall, target: Path, limit: int) -> None:
    async with client.open_resource(call) as chunks:
        await write_new(target, chunks, limit)


def _passing(fault: ApiError) -> bool:
    if not isinstance(fault, RefusedError):
        return True
    return fault.status >= 500 or fault.too_often or fault.code in TOKEN_CODES


def _asked(fault: ApiError) -> float | None:
    return fault.retry_after if isinstance(fault, RefusedError) else None


def _lost(fault: ApiError, limit: int) -> AttachmentError:
    code = fault.code if isinstance(fault, RefusedError) else 0
    if code == _TOO_LARGE:
        return too_large(limit)
    if code == _NOT_HANDED_OUT:
        return AttachmentError(
            "Feishu hands out no files of cards and forwarded messages. Please send the file itself."
        )
    if code == _NO_SCOPE:
        return AttachmentError("I have no permission to fetch files here. Whoever runs me can add it.")
    return AttachmentError("Feishu did not hand the file over. Please send it again.")
