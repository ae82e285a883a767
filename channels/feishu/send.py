"""Saying: one message, and what its failure means."""

import logging
from dataclasses import replace

from channels.errors import AmbiguousSendError, PermanentSendError, SendError, TransientSendError
from channels.feishu.api import TOKEN_CODES, ApiCall, ApiError, NotSentError, OpenApi, RefusedError
from channels.feishu.render import Form, destinations, marked, text_forms
from channels.feishu.upload import upload
from channels.messages import OutboundMessage, OutboundText, Receipt

log = logging.getLogger(__name__)

_FORMAT = frozenset({230001, 230025, 230028, 230099})
"""Bad content: parameters, too long, refused by a check, a card that cannot be made."""

_ANSWERED_IS_GONE = frozenset({230011, 230019, 230050, 230071})
"""The message to answer was withdrawn or cannot be seen, or its thread is gone."""

_IN_FLIGHT = frozenset({230049})
"""The same ``uuid`` is being sent right now."""

_INTERNAL = frozenset({1500, 1503, 1551, 2200, 55001})
"""Faults of the platform itself (generic error codes)."""


async def post(client: OpenApi, message: OutboundMessage) -> Receipt:
    """Post a message.

    Raises:
        PermanentSendError, TransientSendError, AmbiguousSendError: See there.
    """
    targets = destinations(message)
    match message.content:
        case OutboundText(text, buttons):
            said = marked(text, message.possible_repeat)
            forms = text_forms(said, buttons, message.address.platform_thread)
        case file:
            try:
                forms = (await upload(client, file),)
            except ApiError as fault:
                raise _before_posting(fault) from None
    return await _first_taken(client, targets, forms)


def classify(fault: ApiError) -> SendError:
    """What a failed call means for the message that it was to post. Pure."""
    text = f"Feishu: {fault}"
    if isinstance(fault, NotSentError):
        return TransientSendError(text)
    if not isinstance(fault, RefusedError):
        return AmbiguousSendError(text)
    if fault.too_often:
        return TransientSendError(text, fault.retry_after)
    if fault.status == 413:
        return PermanentSendError(text)
    if fault.status >= 500 or fault.status == 408 or fault.code in _INTERNAL:
        # A gateway that lost patience cannot know whether the message was posted.
        return AmbiguousSendError(text)
    if (
        fault.code in TOKEN_CODES
        or fault.code in _IN_FLIGHT
        or fault.bad_credentials
        or not fault.from_platform
    ):
        # Not about this message: it can go out once the token or what lies between is mended.
        return TransientSendError(text)
    return PermanentSendError(text)


def _before_posting(fault: ApiError) -> SendError:
    """The same for a call that posts nothing itself."""
    meant = classify(fault)
    return TransientSendError(str(meant)) if isinstance(meant, AmbiguousSendError) else meant


async def _first_taken(client: OpenApi, targets: tuple[ApiCall, ...], forms: tuple[Form, ...]) -> Receipt:
    """Try the ways to post, best first; only a refusal, which posts nothing, leads to the next one."""
    at, form = 0, 0
    while True:
        body = {**(targets[at].body or {}), "msg_type": forms[form].kind, "content": forms[form].content}
        try:
            return _receipt(await client.call(replace(targets[at], body=body)))
        except RefusedError as refused:
            if refused.code in _ANSWERED_IS_GONE and at + 1 < len(targets):
                at += 1
            elif refused.code in _FORMAT and form + 1 < len(forms):
                log.info("feishu: a message was refused as %s: %s", forms[form].kind, refused)
                form += 1
            else:
                raise classify(refused) from None
        except ApiError as fault:
            raise classify(fault) from None


def _receipt(answer: dict[str, object]) -> Receipt:
    match answer.get("data"):
        case {"message_id": str(message_id)} if message_id:
            return Receipt(message_id)
    raise AmbiguousSendError("Feishu took the message, but its answer has no message id")
