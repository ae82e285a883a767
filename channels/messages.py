"""What crosses the border between a platform and Hart."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path


class ChatKind(StrEnum):
    """Whether a chat has one person in it, or may have many."""

    DIRECT = "direct"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class Address:
    """A place a message can be sent to.

    Args:
        channel: Platform name, such as ``telegram`` or ``web``.
        account: Which of our accounts on that platform (``main`` unless several are configured).
        chat_id: The platform's own id of the chat.
        platform_thread: The platform's own id of a thread or topic inside the chat, if any.
    """

    channel: str
    account: str
    chat_id: str
    platform_thread: str | None = None


@dataclass(frozen=True, slots=True)
class Sender:
    """Who wrote a message.

    Args:
        id: The platform's own id of the person; stable, unlike the name.
        name: What the platform shows, for people to read. Chosen by the sender: never trust it.
        is_bot: True for bots and for our own messages.
    """

    id: str
    name: str = ""
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with a message and has not been fetched yet.

    Args:
        name: File name as the sender gave it. Hostile until made safe.
        ref: What the channel needs to fetch it (a file id, a staged path); opaque elsewhere.
        size: Bytes, when the platform says so.
        mime: Media type, when the platform says so.
    """

    name: str
    ref: str
    size: int | None = None
    mime: str | None = None


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """One message from a person, whatever platform it came from.

    Args:
        address: Where it was written, and so where the answer goes.
        chat_kind: Direct or group.
        sender: Who wrote it.
        message_id: The platform's own id of the message.
        dedupe_key: Equal for every redelivery of the same message, and for nothing else.
        text: Plain text or markdown; mentions of the bot itself removed; may be empty.
        attachments: Files, in the order of the message.
        addressed: True when the message is meant for the bot: a direct chat, a mention of it or
            a reply to it. In a group, others are heard only if the configuration says so.
        reply_to: Platform id of the message this one answers, if any.
        sent_at: When the platform says it was sent (aware), if it says so.
        action: For the press of a button, that button's id, as the platform gave it back: not to be
            trusted. The text is then empty, and ``message_id`` names the message with the button.
        reply_via: Where an answer can go for a while if we may not write in the chat; opaque elsewhere.
            Whoever knows it can write in our name, so it is not in ``repr``.
        part_of: For one of several messages that its sender sent as one (an album): equal for those, and
            for nothing else.
    """

    address: Address
    chat_kind: ChatKind
    sender: Sender
    message_id: str
    dedupe_key: str
    text: str
    attachments: tuple[Attachment, ...] = ()
    addressed: bool = True
    reply_to: str | None = None
    sent_at: datetime | None = None
    action: str | None = None
    reply_via: str | None = field(default=None, repr=False)
    part_of: str | None = None


@dataclass(frozen=True, slots=True)
class Button:
    """Something to press below a message.

    Args:
        id: What comes back as :attr:`InboundMessage.action`; at most 64 bytes of ASCII, which is what
            Telegram takes (Bot API ``InlineKeyboardButton.callback_data``).
        label: What people see.
    """

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class OutboundText:
    """Text to post: markdown, already short enough for one message of its channel.

    Args:
        text: The text. It says all that the buttons do: not every channel has buttons.
        buttons: Below the text, in order, where the channel has them.
    """

    text: str
    buttons: tuple[Button, ...] = ()


@dataclass(frozen=True, slots=True)
class OutboundFile:
    """A file to post.

    Args:
        path: Where it lies on this machine.
        name: The name people see.
        mime: Its media type.
    """

    path: Path
    name: str
    mime: str = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class OutboundMessage:
    """One message to post: exactly one call that the platform accepts or refuses.

    Args:
        address: Where to.
        key: Unique per delivery; sent along where a platform has an idempotency key.
        content: Text or one file.
        reply_to: Platform id of the message being answered, if any.
        possible_repeat: True when an earlier try may have reached people already. A channel
            without idempotent sends says so in the message.
        reply_via: :attr:`InboundMessage.reply_via` of the message it answers.
    """

    address: Address
    key: str
    content: OutboundText | OutboundFile
    reply_to: str | None = None
    possible_repeat: bool = False
    reply_via: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The platform's word that it took a message: its id there."""

    message_id: str
