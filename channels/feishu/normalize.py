"""From a raw event to a message for Hart. Pure, and fit for anything a server may send."""

import json
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from channels.feishu.api import is_id
from channels.feishu.content import Content, MalformedContentError, read_content
from channels.feishu.events import CardUsed, Envelope, EventMessage, MessageReceived
from channels.feishu.mentions import read_text
from channels.messages import Address, Attachment, ChatKind, InboundMessage, Sender

CHANNEL = "feishu"

MESSAGE_EVENT = "im.message.receive_v1"
CARD_EVENT = "card.action.trigger"

_Model = TypeVar("_Model", bound=BaseModel)

_KINDS = {"p2p": ChatKind.DIRECT, "group": ChatKind.GROUP, "topic_group": ChatKind.GROUP}
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")
_MILLISECONDS = re.compile(r"[0-9]{1,15}")
_LATEST = 253402300800000  # the year 9999


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """Who we are.

    Args:
        open_id: As people mention us.
        app_id: As the sender of our messages.
    """

    open_id: str
    app_id: str


@dataclass(frozen=True, slots=True)
class Ignored:
    """An event that is fine but not for us, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Pressed:
    """Somebody pressed a button of ours. The platform wants an answer within three seconds.

    Args:
        message: As far as the event tells, which is not what kind of chat it was in.
    """

    message: InboundMessage


@dataclass(frozen=True, slots=True)
class Heard:
    """A message.

    Args:
        message: As far as the event tells.
        answers: Messages it answers, nearest first; if one of them is ours, it is addressed to us.
            Empty when that is known already.
        forwarded: True when it forwards others, whose text must be asked for.
    """

    message: InboundMessage
    answers: tuple[str, ...] = ()
    forwarded: bool = False


Reading = Heard | Pressed | Ignored
"""What an event can be."""


class MalformedEventError(ValueError):
    """An event that is not what the platform documents. The text holds nothing of its content."""


def parse(payload: bytes) -> object:
    """The JSON of an event.

    Raises:
        MalformedEventError: It is none.
    """
    try:
        return json.loads(payload)
    except (ValueError, RecursionError):
        raise MalformedEventError("the event is not JSON") from None


def normalize(raw: object, account: str, bot: BotIdentity, *, all_is_us: bool = False) -> Reading:
    """Read one event.

    Args:
        raw: The event, as parsed from JSON.
        account: Which of our accounts heard it.
        bot: Who that account is.
        all_is_us: Whether a mention of everyone addresses us.

    Raises:
        MalformedEventError: It cannot be understood.
    """
    if isinstance(raw, dict) and "schema" not in raw and "header" not in raw:
        return Ignored("an event of the old schema")
    envelope = _validated(Envelope, raw)
    kind = envelope.header.event_type
    if kind == CARD_EVENT:
        return _from_press(_validated(CardUsed, envelope.event), account, envelope.header.event_id)
    if kind == MESSAGE_EVENT:
        return _from_message(_validated(MessageReceived, envelope.event), account, bot, all_is_us)
    return Ignored(f"an event of type {kind[:60]}")


def origin(raw: object, account: str) -> Address:
    """As much of an event's address as can be read; an empty chat id when that is nothing."""
    match raw:
        case {"event": {"message": {"chat_id": str(chat_id)}}}:
            return Address(CHANNEL, account, storable(chat_id)[:200])
    return Address(CHANNEL, account, "")


def message_key(account: str, message_id: str) -> str:
    """The message's own identity rather than the event's: a message can come in more than one event."""
    return f"{CHANNEL}:{account}:message:{message_id}"


def storable(text: str) -> str:
    """Without what databases refuse: NUL, and halves of surrogate pairs."""
    return _UNSTORABLE.sub("\ufffd", text)


def _from_message(received: MessageReceived, account: str, bot: BotIdentity, all_is_us: bool) -> Reading:
    message, sender = received.message, received.sender
    kind = _KINDS.get(message.chat_type)
    if kind is None:
        return Ignored("neither a direct chat nor a group")
    if sender.sender_type != "user":
        return Ignored("not written by a person")
    if sender.sender_id is None or sender.sender_id.open_id is None:
        raise MalformedEventError("the sender has no open_id")
    content = _content(message)
    read = read_text(content.text, message.mentions or (), bot.open_id)
    addressed = kind is ChatKind.DIRECT or read.mentions_us or (all_is_us and read.mentions_all)
    heard = InboundMessage(
        address=Address(CHANNEL, account, message.chat_id, thread_of(message)),
        chat_kind=kind,
        sender=Sender(sender.sender_id.open_id),
        message_id=message.message_id,
        dedupe_key=message_key(account, message.message_id),
        text=storable(read.text),
        attachments=tuple(_storable_file(file) for file in content.attachments),
        addressed=addressed,
        reply_to=message.parent_id,
        sent_at=_sent_at(message.create_time),
    )
    candidates = dict.fromkeys(one for one in (message.parent_id, message.root_id) if one is not None)
    return Heard(heard, () if addressed else tuple(candidates), message.message_type == "merge_forward")


def _from_press(used: CardUsed, account: str, event_id: str) -> Pressed | Ignored:
    match used.action.value:
        case {"hart": str(action), **more}:
            thread = more.get("thread")
        case _:
            return Ignored("not a button of ours")
    if used.operator.open_id is None:
        raise MalformedEventError("nobody pressed the button")
    known = thread if isinstance(thread, str) and is_id(thread) else None
    return Pressed(
        InboundMessage(
            address=Address(CHANNEL, account, used.context.open_chat_id, known),
            chat_kind=ChatKind.GROUP,
            sender=Sender(used.operator.open_id),
            message_id=used.context.open_message_id,
            dedupe_key=f"{CHANNEL}:{account}:press:{storable(event_id)[:200]}",
            text="",
            action=storable(action)[:200],
        )
    )


def thread_of(message: EventMessage) -> str | None:
    """The message that begins the thread, if the message is in one.

    The platform names threads by an id of their own (``omt_…``), but takes answers only to messages.
    """
    if message.thread_id is None:
        return None
    return message.root_id or message.message_id


def with_text(message: InboundMessage, text: str) -> InboundMessage:
    """The message with another text."""
    return replace(message, text=storable(text))


def _content(message: EventMessage) -> Content:
    if message.message_type == "merge_forward":
        return Content()
    try:
        return read_content(message.message_type, message.content, message.message_id)
    except MalformedContentError as fault:
        raise MalformedEventError(str(fault)) from None


def _storable_file(file: Attachment) -> Attachment:
    return replace(file, name=storable(file.name))


def _sent_at(milliseconds: str) -> datetime | None:
    if not _MILLISECONDS.fullmatch(milliseconds) or int(milliseconds) >= _LATEST:
        return None
    return datetime.fromtimestamp(int(milliseconds) / 1000, UTC)


def _validated(model: type[_Model], raw: object) -> _Model:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part)[:60] for part in first["loc"]) or "event"
        raise MalformedEventError(f"{place}: {first['msg']}") from None
    except RecursionError:
        raise MalformedEventError("nested too deeply") from None
