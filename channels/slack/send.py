"""Saying: the calls that post a message, and what their failure means."""

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from channels.errors import (
    AmbiguousSendError,
    FileRefusedError,
    PermanentSendError,
    SendError,
    TransientSendError,
)
from channels.messages import Button, OutboundFile, OutboundMessage, OutboundText, Receipt
from channels.slack import render
from channels.slack.api import ApiCall, ApiError, Json, NotSentError, OutsideError, RefusedError, SlackApi

log = logging.getLogger(__name__)

UPLOAD_LIMIT = 1024 * 1024 * 1024
"""Bytes in one file (Slack help, "Add files to Slack")."""

NOT_ABOUT_THE_MESSAGE = frozenset(
    {
        "access_denied",
        "accesslimited",
        "account_inactive",
        "ekm_access_denied",
        "enterprise_is_restricted",
        "invalid_auth",
        "message_limit_exceeded",
        "missing_scope",
        "no_permission",
        "not_allowed_token_type",
        "not_authed",
        "org_login_required",
        "team_access_not_granted",
        "team_added_to_org",
        "token_expired",
        "token_revoked",
        "two_factor_setup_required",
    }
)
"""Errors that pass once the token, a scope or the workspace is mended (Slack docs, ``chat.postMessage``)."""

MAY_HAVE_BEEN_OBEYED = frozenset(
    {"fatal_error", "internal_error", "request_timeout", "service_unavailable", "timeout"}
)
"""Errors after which "some aspect of the operation" may have succeeded (same source)."""


SEEN_BY_ONE = "ephemeral"
"""Receipt of an answer that only one person sees: Slack tells no name of it."""

_NOT_THERE = frozenset({"not_in_channel", "channel_not_found"})
"""We are no member of the channel (same source)."""


def posting_method(message: OutboundMessage) -> str:
    """The method that shows a message to people. Pure."""
    return "chat.postMessage" if isinstance(message.content, OutboundText) else "files.completeUploadExternal"


async def post(client: SlackApi, message: OutboundMessage) -> Receipt:
    """Post a message. The receipt of a file is the file's id: Slack does not tell the message's.

    Raises:
        PermanentSendError, TransientSendError, AmbiguousSendError: See there.
    """
    match message.content:
        case OutboundText(text, buttons):
            return await _post_text(client, message, text, buttons)
        case OutboundFile(path, name):
            return await _post_file(client, message, path, name)


async def close_buttons(client: SlackApi, message_id: str, message: OutboundMessage, chosen: str) -> None:
    """Show what was chosen in the place of a message's buttons.

    Raises:
        ApiError: It could not be done.
        PermanentSendError: The address cannot be one of Slack's.
    """
    try:
        await client.call(render.close_buttons(message, message_id, chosen))
    except RefusedError as refused:
        if message.reply_via is None or refused.error not in (*_NOT_THERE, "message_not_found"):
            raise
        # A message for one person only is none that can be changed by its name.
        await client.respond(message.reply_via, render.replacement(message, chosen))


async def _post_text(
    client: SlackApi, message: OutboundMessage, text: str, buttons: Sequence[Button]
) -> Receipt:
    try:
        answer = await _post_blocks(client, message, text, buttons)
    except RefusedError as refused:
        if message.reply_via is None or refused.error not in _NOT_THERE:
            raise classify(refused) from None
        return await _respond(client, message.reply_via, render.response(message, text, buttons))
    except ApiError as fault:
        raise classify(fault) from None
    return _receipt(answer.get("ts"))


async def _post_blocks(
    client: SlackApi, message: OutboundMessage, text: str, buttons: Sequence[Button]
) -> dict[str, Any]:
    try:
        return await client.call(render.post_message(message, text, buttons))
    except RefusedError as refused:
        if not buttons or not refused.error.startswith("invalid_blocks"):
            raise
        # The text says all that the buttons do.
        log.warning("slack: sent without buttons, which were refused: %s", refused)
        return await client.call(render.post_message(message, text))


async def _respond(client: SlackApi, url: str, body: Mapping[str, Json]) -> Receipt:
    """Answer where a command came from: who gave it sees the answer, and nobody else."""
    try:
        await client.respond(url, body)
    except OutsideError as outside:
        raise PermanentSendError(f"Slack: {outside}") from None
    except ApiError as fault:
        raise classify(fault) from None
    return Receipt(SEEN_BY_ONE)


async def _post_file(client: SlackApi, message: OutboundMessage, path: Path, name: str) -> Receipt:
    """Three steps (Slack docs, "Uploading files"); only the last one shows anything to people."""
    size = await asyncio.to_thread(_checked_size, path)
    try:
        granted = await client.call(render.upload_url(name, size))
        match granted:
            case {"upload_url": str(url), "file_id": str(file_id)} if url.startswith(("http://", "https://")):
                await client.upload(url, path)
            case _:
                raise TransientSendError("Slack: files.getUploadURLExternal gave no address")
    except ApiError as fault:
        raise _not_yet(classify(fault)) from None
    except OSError as error:
        raise FileRefusedError(f"the file to send cannot be read: {error.strerror}") from None
    files = json.dumps([{"id": file_id, "title": render.shown_name(name)}])
    await _call(client, render.complete_upload(message, files))
    return _receipt(file_id)


async def _call(client: SlackApi, call: ApiCall) -> dict[str, Any]:
    try:
        return await client.call(call)
    except ApiError as fault:
        raise classify(fault) from None


def classify(fault: ApiError) -> SendError:
    """What a failed call means for the message that it was to post. Pure."""
    text = f"Slack: {fault}"
    if isinstance(fault, NotSentError):
        return TransientSendError(text)
    if not isinstance(fault, RefusedError):
        return AmbiguousSendError(text)
    if fault.rate_limited:
        return TransientSendError(text, fault.retry_after)
    if fault.error in MAY_HAVE_BEEN_OBEYED or fault.status >= 500 or fault.status == 408:
        # A gateway that lost patience cannot know whether the message was posted.
        return AmbiguousSendError(text)
    if fault.error in NOT_ABOUT_THE_MESSAGE or not fault.error:
        # Not about this message: it can go out once the token or what lies between is mended.
        return TransientSendError(text)
    return PermanentSendError(text)


def _not_yet(error: SendError) -> SendError:
    """Before the last step nothing has been posted, whatever broke."""
    return TransientSendError(str(error)) if isinstance(error, AmbiguousSendError) else error


def _receipt(message_id: object) -> Receipt:
    if isinstance(message_id, str) and message_id:
        return Receipt(message_id)
    raise AmbiguousSendError("Slack took the message, but its answer has no id")


def _checked_size(path: Path) -> int:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise FileRefusedError(f"the file to send cannot be read: {error.strerror}") from None
    if size > UPLOAD_LIMIT:
        raise FileRefusedError(f"the file has {size / 1024 / 1024:.0f} MB; Slack takes at most 1 GB")
    if size == 0:
        raise FileRefusedError("the file is empty; Slack takes no empty files")
    return size
