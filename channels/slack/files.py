"""Fetching what people attached."""

from pathlib import Path
from typing import Any

from channels.backoff import Pause
from channels.errors import AttachmentError
from channels.fetching import Fetcher, Reading, too_large, write_new
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

NEEDS_SCOPE = (
    "I may not read files in this workspace. Whoever runs me can add the scope files:read to the Slack app "
    "and install it again."
)

_GONE = frozenset({"file_not_found", "file_deleted", "file_not_available", "access_denied", "not_visible"})


async def fetch(client: SlackApi, attachment: Attachment, target: Path, max_bytes: int, pause: Pause) -> None:
    """Write an attachment to ``target``, which must not exist; nothing is left there on failure.

    Raises:
        AttachmentError: It is too large, gone or out of our reach, or Slack stays out of reach.
    """
    if attachment.size is not None and attachment.size > max_bytes:
        raise too_large(max_bytes)
    await Fetcher(_READING, pause).fetch(lambda: _download(client, attachment.ref, target, max_bytes))


async def _download(client: SlackApi, ref: str, target: Path, limit: int) -> None:
    """Ask for the file's address first: events of shared channels do not have it."""
    answer = await client.call(ApiCall("files.info", {"file": ref}, Encoding.QUERY))
    file = answer.get("file")
    url, page = _address(file if isinstance(file, dict) else {})
    async with client.open_file(url) as download:
        if _is_login_page(download, page):
            raise AttachmentError(NEEDS_SCOPE)
        await write_new(target, download.chunks, limit)


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


def _passing(fault: ApiError) -> bool:
    if isinstance(fault, OutsideError):
        return False
    if not isinstance(fault, RefusedError) or fault.rate_limited:
        return True
    return fault.status >= 500 or fault.error in ("internal_error", "fatal_error", "request_timeout")


def _asked(fault: ApiError) -> float | None:
    return fault.retry_after if isinstance(fault, RefusedError) else None


def _lost(fault: ApiError) -> AttachmentError:
    if isinstance(fault, OutsideError):
        return AttachmentError("The file lies outside Slack. Please upload the file itself.")
    if isinstance(fault, RefusedError):
        if fault.error == "missing_scope" or fault.status == 403:
            return AttachmentError(NEEDS_SCOPE)
        if fault.error in _GONE or fault.status in (404, 410):
            return AttachmentError("The file is not there any more.")
    return AttachmentError("Slack did not hand the file over. Please send it again.")


_READING = Reading(kind=ApiError, passing=_passing, asked=_asked, lost=_lost)
