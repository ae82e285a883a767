"""Who is heard. Pure."""

from dataclasses import dataclass

from bot.config.channels import Access, DmPolicy, GroupPolicy, MentionPolicy
from channels.messages import ChatKind, InboundMessage


@dataclass(frozen=True, slots=True)
class Heard:
    """The message is let in."""


@dataclass(frozen=True, slots=True)
class Unheard:
    """The message is none of our business: nothing is stored and nothing said."""

    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The sender meant us and has no access; ``reply`` says what to do about it."""

    reply: str


Decision = Heard | Unheard | Refused


def decide(message: InboundMessage, access: Access) -> Decision:
    """Whether to hear a message under an account's access rules."""
    if message.sender.is_bot:
        return Unheard("written by a bot")
    if message.chat_kind is ChatKind.DIRECT:
        return _direct(message, access)
    return _group(message, access)


def _direct(message: InboundMessage, access: Access) -> Decision:
    if access.dm is DmPolicy.OPEN or message.sender.id in access.users:
        return Heard()
    return Refused(
        f"I do not know you yet. Ask whoever runs me to let you in; your id is `{message.sender.id}`."
    )


def _group(message: InboundMessage, access: Access) -> Decision:
    if access.group is GroupPolicy.OFF:
        return Unheard("groups are off")
    if not message.addressed and access.mention is MentionPolicy.REQUIRED:
        return Unheard("not addressed to the bot")
    if access.group is GroupPolicy.OPEN or message.address.chat_id in access.groups:
        return Heard()
    if not message.addressed:
        return Unheard("group is not on the list")
    return Refused(
        "I am not set up for this group yet. Ask whoever runs me to let it in; "
        f"its id is `{message.address.chat_id}`."
    )
