"""Fetching what people attached."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from channels.errors import AttachmentError
from channels.messages import Attachment
from channels.slack.api import (
    ApiCall,
    ApiError,
    Download,
    Encoding,
    OutsideError,
    RefusedError,
    SlackApi,
)
from channels.slack.transport import Pause

FETCH_SECONDS = 300.0
"""How long one file may take, all tries included."""

NEEDS_SCOPE = (
    "I may not read files in this workspace. Whoever runs me can add the scope files:read to the Slack app "
    "and install it again."
)

_TRIES = 3
_LONGEST_PAUSE = 30.0
_GONE = frozenset({"file_not_found", "file_deleted", "file_not_available", "access_denied", "not_visible"})


async def fetch(client: SlackApi, attachment: Attachment, target: Path, max_bytes: int, pause: Pause) -> None:
    """Write an attachment to ``target``, which must not exist; nothing is left there on failure.

    Raises:
        AttachmentError: It is too large, gone or out of our reach, or Slack stays out of reach.
    """
    if attachment.size is not None and attachment.size > max_bytes:
        raise _too_large(max_bytes)
    try:
        async with asyncio.timeout(FETCH_SECONDS):
            await _try_to_fetch(client, attachment.ref, target, max_bytes, pause)
    except TimeoutError:
        raise AttachmentError("The file took too long to arrive. Please send it again.") from None


async def _try_to_fetch(client: SlackApi, ref: str, target: Path, limit: int, pause: Pause) -> None:
    tries = 0
    while True:
        tries += 1
        try:
            return await _download(client, ref, target, limit)
        except ApiError as fault:
            if tries == _TRIES or _is_lasting(fault):
                raise _lost(fault) from None
            asked = fault.retry_after if isinstance(fault, RefusedError) else None
            await pause(min(asked or float(tries), _LONGEST_PAUSE))


async def _download(client: SlackApi, ref: str, target: Path, limit: int) -> None:
    """Ask for the file's address first: events of shared channels do not have it."""
    answer = await client.call(ApiCall("files.info", {"file": ref}, Encoding.QUERY))
    file = answer.get("file")
    url, page = _address(file if isinstance(file, dict) else {})
    async with client.open_file(url) as download:
        if _is_login_page(download, page):
            raise AttachmentError(NEEDS_SCOPE)
        with _new_file(target) as written:
            received = 0
            async for chunk in download.chunks:
                received += len(chunk)
                if received > limit:
                    raise _too_large(limit)
                await asyncio.to_thread(written.write, chunk)


def _address(file: dict[str, Any]) -> tuple[str, bool]:
    """Where a file's bytes are, and whether they are a web page (``file`` object, Slack docs).

    Raises:
        AttachmentError: There are none to be had.
    """
    if file.get("mode") in ("tombstone", "hidden_by_limit"):
        raise AttachmentError("The file is not there any more.")
    if file.get("is_external") or file.get("mode") == "external":
        raise AttachmentError("The file lies outside Slack, behind a link. Please upload the file itself.")
    for key in ("url_private_download", "url_private"):
        url = file.get(key)
        if isinstance(url, str) and url:
            return url, file.get("mimetype") == "text/html"
    raise AttachmentError("Slack did not say where the file is. Please send it again.")


def _is_login_page(download: Download, page: bool) -> bool:
    """Slack answers 200 with its login page to a token that may not read the file."""
    return download.content_type == "text/html" and not (page and download.attached)


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


def _is_lasting(fault: ApiError) -> bool:
    if isinstance(fault, OutsideError):
        return True
    if not isinstance(fault, RefusedError) or fault.rate_limited:
        return False
    return fault.status < 500 and fault.error not in ("internal_error", "fatal_error", "request_timeout")


def _too_large(limit: int) -> AttachmentError:
    return AttachmentError(f"The file is too large: at most {limit / 1024 / 1024:.4g} MB can be taken here.")


def _lost(fault: ApiError) -> AttachmentError:
    if isinstance(fault, OutsideError):
        return AttachmentError("The file lies outside Slack. Please upload the file itself.")
    if isinstance(fault, RefusedError):
        if fault.error == "missing_scope" or fault.status == 403:
            return AttachmentError(NEEDS_SCOPE)
        if fault.error in _GONE or fault.status in (404, 410):
            return AttachmentError("The file is not there any more.")
    return AttachmentError("Slack did not hand the file over. Please send it again.")
