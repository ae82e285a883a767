"""Who is heard, and with which role. Pure."""

from dataclasses import dataclass, replace

from bot.config.channels import Access, DmPolicy, GroupPolicy, MentionPolicy, Role
from channels.messages import ChatKind, InboundMessage

LOCAL_CHANNELS = frozenset({"web", "console"})
"""Channels of this machine. Whoever reaches them was let in by the server or the terminal."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What the ledger knows of a message's sender and place.

    Args:
        granted: The role that a pairing gave the sender, if any.
        taking_part: True when Hart has posted to the message's thread or topic.
    """

    granted: Role | None = None
    taking_part: bool = False


NO_STANDING = Standing()


@dataclass(frozen=True, slots=True)
class Heard:
    """The message is let in."""

    role: Role


@dataclass(frozen=True, slots=True)
class Unheard:
    """The message is none of our business: nothing is stored and nothing said."""

    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The sender meant us and has no access; ``reply`` says what to do about it."""

    reply: str


@dataclass(frozen=True, slots=True)
class Unpaired:
    """The sender meant us and has no access, and may ask for it with a code."""


Decision = Heard | Unheard | Refused | Unpaired


def dismissed(message: InboundMessage, access: Access) -> Unheard | None:
    """Why a message is none of our business whatever the ledger knows; None when it may be."""
    if message.sender.is_bot:
        return Unheard("written by a bot")
    if message.chat_kind is ChatKind.DIRECT:
        return None
    if access.group is GroupPolicy.OFF:
        return Unheard("groups are off")
    if message.addressed:
        return None
    if access.mention is MentionPolicy.REQUIRED:
        return Unheard("not addressed to the bot")
    if not _listed_group(message, access):
        return Unheard("group is not on the list")
    if access.mention is MentionPolicy.THREAD and message.address.platform_thread is None:
        return Unheard("neither addressed to the bot nor in a thread")
    return None


def may_follow(message: InboundMessage, access: Access) -> bool:
    """Whether a message would be heard, were it addressed, and another part of it may be. Pure."""
    return message.part_of is not None and dismissed(replace(message, addressed=True), access) is None


def decide(message: InboundMessage, access: Access, standing: Standing = NO_STANDING) -> Decision:
    """Whether to hear a message under an account's access rules."""
    unheard = dismissed(message, access)
    if unheard is not None:
        return unheard
    if message.chat_kind is ChatKind.DIRECT:
        return _direct(message, access, standing)
    return _group(message, access, standing)


def _direct(message: InboundMessage, access: Access, standing: Standing) -> Decision:
    role = role_of(message.sender.id, access, standing.granted)
    if role is not None:
        return Heard(role)
    match access.dm:
        case DmPolicy.OPEN:
            return Heard(Role.MEMBER)
        case DmPolicy.PAIRING:
            return Unpaired()
        case DmPolicy.ALLOWLIST:
            return Refused(
                f"I do not know you yet. Ask whoever runs me to let you in; your id is `{message.sender.id}`."
            )


def _group(message: InboundMessage, access: Access, standing: Standing) -> Decision:
    follows = access.mention is MentionPolicy.THREAD
    if not message.addressed and follows and not standing.taking_part:
        return Unheard("in a thread that Hart takes no part in")
    if _listed_group(message, access):
        # Whoever lets a group in lets in everybody whom the group lets in.
        return Heard(role_of(message.sender.id, access, standing.granted) or Role.MEMBER)
    return Refused(
        "I am not set up for this group yet. Ask whoever runs me to let it in; "
        f"its id is `{message.address.chat_id}`."
    )


def _listed_group(message: InboundMessage, access: Access) -> bool:
    return access.group is GroupPolicy.OPEN or message.address.chat_id in access.groups


def role_of(sender_id: str, access: Access, granted: Role | None) -> Role | None:
    """The role somebody has by themselves; None for a stranger.

    The configuration's lists come first. What a pairing gave counts unless the account hears only those
    who are listed.
    """
    listed = ((Role.OWNER, access.owners), (Role.ADMIN, access.admins), (Role.MEMBER, access.users))
    roles = [role for role, people in listed if sender_id in people]
    if granted is not None and grants_count(access):
        roles.append(granted)
    return next((role for role in Role if role in roles), None)


def grants_count(access: Access) -> bool:
    """Whether pairings count on an account."""
    return access.dm is not DmPolicy.ALLOWLIST


def follows_threads(message: InboundMessage, access: Access) -> bool:
    """Whether it matters if Hart takes part in the message's thread or topic."""
    return (
        message.chat_kind is ChatKind.GROUP
        and not message.addressed
        and access.mention is MentionPolicy.THREAD
        and message.address.platform_thread is not None
    )
