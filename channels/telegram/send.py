"""Saying: one call, and what its failure means."""

import asyncio
import logging
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from channels.errors import (
    AmbiguousSendError,
    FileRefusedError,
    PermanentSendError,
    SendError,
    TransientSendError,
)
from channels.messages import Receipt
from channels.telegram.api import ApiCall, ApiError, BotApi, NotSentError, RefusedError

log = logging.getLogger(__name__)

UPLOAD_LIMIT = 50 * 1024 * 1024
"""Bytes in one file sent by a bot (Bot API, "Sending files")."""


_FORMAT_REFUSED = re.compile(r"parse|entit|url", re.IGNORECASE)
"""In Telegram's word that it does not take the formatting; the Bot API documents none for it."""


async def post(client: BotApi, call: ApiCall, plain: ApiCall | None = None) -> Receipt:
    """Make a call that posts a message.

    A group that has become a supergroup has a new id; the call is repeated for that.

    Args:
        client: The Bot API.
        call: What to call.
        plain: What to call instead if Telegram refuses the formatting.

    Raises:
        PermanentSendError, TransientSendError, AmbiguousSendError: See there.
    """
    if call.upload:
        await asyncio.to_thread(_check_file, call.upload.path)
    try:
        try:
            result = await _call(client, call)
        except RefusedError as refused:
            if plain is None or refused.code != 400 or not _FORMAT_REFUSED.search(refused.description):
                raise
            log.warning("telegram: sent without formatting, which was refused: %s", refused)
            result = await _call(client, plain)
    except ApiError as fault:
        raise classify(fault) from None
    except OSError as error:
        raise FileRefusedError(f"the file to send cannot be read: {error.strerror}") from None
    match result:
        case {"message_id": int(message_id)}:
            return Receipt(str(message_id))
    raise AmbiguousSendError("Telegram took the message, but its answer has no message id")


async def _call(client: BotApi, call: ApiCall) -> Any:
    try:
        return await client.call(call)
    except RefusedError as refused:
        if refused.migrate_to is None:
            raise
        log.info("telegram: a group became a supergroup; its chat id is now %d", refused.migrate_to)
        return await client.call(replace(call, params={**call.params, "chat_id": refused.migrate_to}))


def classify(fault: ApiError) -> SendError:
    """What a failed call means for the message that it was to post. Pure."""
    text = f"Telegram: {fault}"
    if isinstance(fault, NotSentError):
        return TransientSendError(text)
    if not isinstance(fault, RefusedError):
        return AmbiguousSendError(text)
    if fault.code == 429:
        return TransientSendError(text, fault.retry_after)
    if fault.code >= 500 or fault.code == 408:
        # A gateway that lost patience cannot know whether the message was posted.
        return AmbiguousSendError(text)
    if fault.code in (401, 409) or not fault.from_platform:
        # Not about this message: it can go out once the token or what lies between is mended.
        return TransientSendError(text)
    return PermanentSendError(text)


def _check_file(path: Path) -> None:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise FileRefusedError(f"the file to send cannot be read: {error.strerror}") from None
    if size > UPLOAD_LIMIT:
        raise FileRefusedError(
            f"the file has {size / 1024 / 1024:.1f} MB; Telegram lets bots send at most 50 MB"
        )
    if size == 0:
        raise FileRefusedError("the file is empty; Telegram takes no empty files")
