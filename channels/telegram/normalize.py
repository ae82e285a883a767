"""From a raw update to a message for Hart. Pure, and fit for anything a server may send."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import ValidationError

from channels.messages import Address, Attachment, ChatKind, InboundMessage, Sender
from channels.telegram.mentions import read_text
from channels.telegram.render import GENERAL_TOPIC
from channels.telegram.updates import CallbackQuery, Message, Photo, PressedMessage, User
from channels.telegram.words import in_words

CHANNEL = "telegram"

_KINDS = {"private": ChatKind.DIRECT, "group": ChatKind.GROUP, "supergroup": ChatKind.GROUP}
_NAME_LIMIT = 64
_FILE_NAME_LIMIT = 255
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """Who we are, as ``getMe`` says."""

    id: int
    username: str


@dataclass(frozen=True, slots=True)
class Ignored:
    """An update that is fine but not for us, and why."""

    reason: str


class MalformedUpdateError(ValueError):
    """An update that is not what the Bot API documents. The text holds nothing of its content."""


def normalize(raw: object, account: str, bot: BotIdentity) -> InboundMessage | Ignored:
    """Read one update.

    Args:
        raw: One element of the ``getUpdates`` result, as parsed from JSON.
        account: Which of our accounts heard it.
        bot: Who that account is.

    Raises:
        MalformedUpdateError: It cannot be understood.
    """
    if not isinstance(raw, dict):
        raise MalformedUpdateError("an update must be an object")
    update_id(raw)
    try:
        if "message" in raw:
            return _from_message(Message.model_validate(raw["message"]), account, bot)
        if "callback_query" in raw:
            return _from_press(CallbackQuery.model_validate(raw["callback_query"]), account, bot)
    except ValidationError as error:
        raise MalformedUpdateError(_first_fault(error)) from None
    except RecursionError:
        raise MalformedUpdateError("nested too deeply") from None
    return Ignored("neither a new message nor a press of a button")


def press_id(raw: object) -> str | None:
    """What answers the press of a button; None for any other update."""
    query = raw.get("callback_query") if isinstance(raw, dict) else None
    found = query.get("id") if isinstance(query, dict) else None
    return _storable(found) if isinstance(found, str) and 0 < len(found) <= 64 else None


def update_id(raw: object) -> int:
    """The id of a raw update, which acknowledging it needs.

    Raises:
        MalformedUpdateError: It has none.
    """
    found = raw.get("update_id") if isinstance(raw, dict) else None
    if type(found) is not int or not 0 <= found < 2**53:
        raise MalformedUpdateError("update_id is missing or not a positive number")
    return found


def origin(raw: object, account: str) -> Address:
    """As much of an update's address as can be read; an empty chat id when that is nothing."""
    chat_id = ""
    message = raw.get("message") if isinstance(raw, dict) else None
    query = raw.get("callback_query") if isinstance(raw, dict) else None
    if message is None and isinstance(query, dict):
        message = query.get("message")
    chat = message.get("chat") if isinstance(message, dict) else None
    found = chat.get("id") if isinstance(chat, dict) else None
    if type(found) is int and abs(found) < 2**63:
        chat_id = str(found)
    return Address(CHANNEL, account, chat_id)


def _from_message(message: Message, account: str, bot: BotIdentity) -> InboundMessage | Ignored:
    kind = _KINDS.get(message.chat.type)
    if kind is None:
        return Ignored("not a private chat or group")
    if message.sender is None or message.is_automatic_forward:
        return Ignored("not written by a person")
    if message.sender.is_bot or message.via_bot is not None:
        return Ignored("written by a bot")
    attachments = _attachments(message)
    caption = message.text is None
    raw_text = message.caption if caption else message.text
    if raw_text is None:
        raw_text = in_words(message)
    if not raw_text and not attachments:
        return Ignored("nothing that can be read")
    entities = message.caption_entities if caption else message.entities
    read = read_text(raw_text, entities, bot.id, bot.username)
    if read.for_another_bot:
        return Ignored("a command for another bot")
    return InboundMessage(
        address=Address(CHANNEL, account, str(message.chat.id), _topic(message)),
        chat_kind=kind,
        sender=Sender(str(message.sender.id), _person(message.sender)),
        message_id=str(message.message_id),
        dedupe_key=_message_key(message, account, bot),
        text=_storable(read.text),
        attachments=attachments,
        addressed=kind is ChatKind.DIRECT or read.addressed or _answers_us(message, bot),
        reply_to=_reply_to(message),
        sent_at=datetime.fromtimestamp(message.date, UTC) if message.date else None,
        part_of=_album(message, account, bot),
    )


def _from_press(query: CallbackQuery, account: str, bot: BotIdentity) -> InboundMessage | Ignored:
    message = query.message
    if message is None or query.data is None:
        return Ignored("not a button of a message of ours")
    kind = _KINDS.get(message.chat.type)
    if kind is None:
        return Ignored("not a private chat or group")
    return InboundMessage(
        address=Address(CHANNEL, account, str(message.chat.id), _topic(message)),
        chat_kind=kind,
        sender=Sender(str(query.sender.id), _person(query.sender), query.sender.is_bot),
        message_id=str(message.message_id),
        dedupe_key=f"{CHANNEL}:{account}:{bot.id}:press:{_storable(query.id)}",
        text="",
        action=_storable(query.data),
    )


def _message_key(message: Message, account: str, bot: BotIdentity) -> str:
    """The message's own identity rather than the update's.

    Telegram picks a new random start for update ids after a week of silence, so in the long run one
    could meet an old one; (chat, message) never comes back. The bot's id is in it because private
    chats with another bot under the same account name count their messages from 1 again.
    """
    return f"{CHANNEL}:{account}:{bot.id}:message:{message.chat.id}:{message.message_id}"


def _album(message: Message, account: str, bot: BotIdentity) -> str | None:
    """The album that a file belongs to: one message for people, one for each file in the Bot API."""
    if message.media_group_id is None or message.sender is None:
        return None
    chat, sender = message.chat.id, message.sender.id
    return f"{CHANNEL}:{account}:{bot.id}:album:{chat}:{sender}:{_storable(message.media_group_id)}"


def _topic(message: Message | PressedMessage) -> str | None:
    """The forum topic. Thread ids of plain reply chains in other groups are not topics."""
    if message.is_topic_message and message.message_thread_id is not None:
        return str(message.message_thread_id)
    return GENERAL_TOPIC if message.chat.is_forum else None


def _true_reply(message: Message) -> bool:
    """False for the notice of a topic's creation, which every message in a topic seems to answer."""
    replied = message.reply_to_message
    return replied is not None and replied.forum_topic_created is None


def _answers_us(message: Message, bot: BotIdentity) -> bool:
    replied = message.reply_to_message
    return (
        replied is not None
        and _true_reply(message)
        and replied.sender is not None
        and replied.sender.id == bot.id
    )


def _reply_to(message: Message) -> str | None:
    if message.reply_to_message is None or not _true_reply(message):
        return None
    return str(message.reply_to_message.message_id)


def _attachments(message: Message) -> tuple[Attachment, ...]:
    number = message.message_id
    named = (
        (message.document, f"document-{number}"),
        (message.audio, f"audio-{number}.mp3"),
        (message.video, f"video-{number}.mp4"),
        (message.video_note, f"video-{number}.mp4"),
        (message.voice, f"voice-{number}.ogg"),
    )
    found = [
        Attachment(
            name=_storable(file.file_name or default)[:_FILE_NAME_LIMIT],
            ref=_storable(file.file_id),
            size=file.file_size,
            mime=_storable(file.mime_type) if file.mime_type else None,
        )
        for file, default in named
        if file is not None
    ]
    if message.photo:
        largest = max(message.photo, key=_area)
        found.append(
            Attachment(f"photo-{number}.jpg", _storable(largest.file_id), largest.file_size, "image/jpeg")
        )
    return tuple(found)


def _area(photo: Photo) -> int:
    return photo.width * photo.height


def _person(user: User) -> str:
    full = " ".join(part for part in (user.first_name, user.last_name) if part) or user.username or ""
    shown = "".join(char if char.isprintable() else " " for char in full[: 4 * _NAME_LIMIT])
    return " ".join(shown.split())[:_NAME_LIMIT]


def _storable(text: str) -> str:
    """Without what databases refuse: NUL, and halves of surrogate pairs."""
    return _UNSTORABLE.sub("\ufffd", text)


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "message"
    return f"{place}: {first['msg']}"
