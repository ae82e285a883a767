"""Fetching what people attached."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from channels.errors import AttachmentError
from channels.feishu.api import TOKEN_CODES, ApiCall, ApiError, OpenApi, RefusedError
from channels.feishu.content import split_ref
from channels.feishu.transport import Pause
from channels.messages import Attachment

DOWNLOAD_LIMIT = 100 * 1024 * 1024
"""Bytes of one file that an app may fetch (open platform, "get resource of a message")."""

FETCH_SECONDS = 300.0
"""How long one file may take, all tries included."""

_TOO_LARGE = 234037
_NOT_HANDED_OUT = 234043  # files of cards and of forwarded messages
_NO_SCOPE = 99991672
_TRIES = 3
_LONGEST_PAUSE = 30.0


async def fetch(client: OpenApi, attachment: Attachment, target: Path, max_bytes: int, pause: Pause) -> None:
    """Write an attachment to ``target``, which must not exist; nothing is left there on failure.

    Raises:
        AttachmentError: It is too large or gone, or the platform stays out of reach.
    """
    limit = min(max_bytes, DOWNLOAD_LIMIT)
    if attachment.size is not None and attachment.size > limit:
        raise _too_large(limit)
    try:
        message_id, kind, key = split_ref(attachment.ref)
    except ValueError:
        raise AttachmentError("The file cannot be found any more. Please send it again.") from None
    call = ApiCall("GET", f"/open-apis/im/v1/messages/{message_id}/resources/{key}", query={"type": kind})
    try:
        async with asyncio.timeout(FETCH_SECONDS):
            await _try_to_fetch(client, call, target, limit, pause)
    except TimeoutError:
        raise AttachmentError("The file took too long to arrive. Please send it again.") from None


async def _try_to_fetch(client: OpenApi, call: ApiCall, target: Path, limit: int, pause: Pause) -> None:
    tries = 0
    while True:
        tries += 1
        try:
            return await _download(client, call, target, limit)
        except ApiError as fault:
            if tries == _TRIES or not _passing(fault):
                raise _lost(fault, limit) from None
            asked = fault.retry_after if isinstance(fault, RefusedError) else None
            await pause(min(asked or float(tries), _LONGEST_PAUSE))


async def _download(client: OpenApi, call: ApiCall, target: Path, limit: int) -> None:
    async with client.open_resource(call) as chunks:
        with _new_file(target) as file:
            received = 0
            async for chunk in chunks:
                received += len(chunk)
                if received > limit:
                    raise _too_large(limit)
                await asyncio.to_thread(file.write, chunk)


@contextmanager
def _new_file(target: Path) -> Iterator[IO[bytes]]:
    """A file that is there in full or not at all.

    Raises:
        FileExistsError: There is one already.
    """
    with target.open("xb") as file:
        try:
            yield file
            file.flush()
        except BaseException as error:
            target.unlink()
            if isinstance(error, OSError) and not isinstance(error, TimeoutError):
                raise AttachmentError("There is no room to store the file.") from error
            raise


def _passing(fault: ApiError) -> bool:
    if not isinstance(fault, RefusedError):
        return True
    return fault.status >= 500 or fault.too_often or fault.code in TOKEN_CODES


def _too_large(limit: int) -> AttachmentError:
    return AttachmentError(f"The file is too large: at most {limit / 1024 / 1024:.4g} MB can be taken here.")


def _lost(fault: ApiError, limit: int) -> AttachmentError:
    code = fault.code if isinstance(fault, RefusedError) else 0
    if code == _TOO_LARGE:
        return _too_large(min(limit, DOWNLOAD_LIMIT))
    if code == _NOT_HANDED_OUT:
        return AttachmentError(
            "Feishu hands out no files of cards and forwarded messages. Please send the file itself."
        )
    if code == _NO_SCOPE:
        return AttachmentError("I have no permission to fetch files here. Whoever runs me can add it.")
    return AttachmentError("Feishu did not hand the file over. Please send it again.")
