"""Fetching what people attached."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from channels.errors import AttachmentError
from channels.messages import Attachment
from channels.telegram.api import ApiCall, ApiError, BotApi, RefusedError
from channels.telegram.transport import Pause

DOWNLOAD_LIMIT = 20 * 1024 * 1024
"""Bytes of one file that a bot may fetch (Bot API ``getFile``)."""

FETCH_SECONDS = 300.0
"""How long one file may take, all tries included."""

_TRIES = 3
_LONGEST_PAUSE = 30.0


async def fetch(client: BotApi, attachment: Attachment, target: Path, max_bytes: int, pause: Pause) -> None:
    """Write an attachment to ``target``, which must not exist; nothing is left there on failure.

    Raises:
        AttachmentError: It is too large or gone, or Telegram stays out of reach.
    """
    limit = min(max_bytes, DOWNLOAD_LIMIT)
    if attachment.size is not None and attachment.size > limit:
        raise _too_large(limit)
    try:
        async with asyncio.timeout(FETCH_SECONDS):
            await _try_to_fetch(client, attachment.ref, target, limit, pause)
    except TimeoutError:
        raise AttachmentError("The file took too long to arrive. Please send it again.") from None


async def _try_to_fetch(client: BotApi, ref: str, target: Path, limit: int, pause: Pause) -> None:
    tries = 0
    while True:
        tries += 1
        try:
            return await _download(client, ref, target, limit)
        except ApiError as fault:
            lasting = isinstance(fault, RefusedError) and fault.code < 500 and fault.code != 429
            if lasting or tries == _TRIES:
                raise _lost(fault) from None
            asked = fault.retry_after if isinstance(fault, RefusedError) else None
            await pause(min(asked or float(tries), _LONGEST_PAUSE))


async def _download(client: BotApi, ref: str, target: Path, limit: int) -> None:
    match await client.call(ApiCall("getFile", {"file_id": ref})):
        case {"file_path": str(file_path)} if _is_relative(file_path):
            pass
        case _:
            raise AttachmentError("Telegram did not say where the file is. Please send it again.")
    async with client.open_file(file_path) as chunks:
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
            if isinstance(error, OSError):
                raise AttachmentError("There is no room to store the file.") from error
            raise


def _is_relative(file_path: str) -> bool:
    """Own Bot API servers in local mode give a path on their own disk, which is not ours to read."""
    return not file_path.startswith("/") and ".." not in file_path.split("/")


def _too_large(limit: int) -> AttachmentError:
    return AttachmentError(f"The file is too large: at most {limit / 1024 / 1024:.4g} MB can be taken here.")


def _lost(fault: ApiError) -> AttachmentError:
    if isinstance(fault, RefusedError) and "too big" in fault.description:
        return _too_large(DOWNLOAD_LIMIT)
    return AttachmentError("Telegram did not hand the file over. Please send it again.")
