"""Whose thread a message belongs to. Pure."""

from bot.config.channels import Sessions, SessionScope
from bot.lanes import chat_key, escape_part
from channels.messages import ChatKind, InboundMessage


def thread_key(message: InboundMessage, sessions: Sessions) -> str:
    """The key of the conversation a message is part of.

    Args:
        message: The message.
        sessions: The channel's choice for direct and for group chats.
    """
    scope = sessions.direct if message.chat_kind is ChatKind.DIRECT else sessions.group
    return scoped_key(message, scope)


def scoped_key(message: InboundMessage, scope: SessionScope) -> str:
    """The key under one scope. Keys of different scopes or platforms never meet.

    ``per_user`` is one conversation per person wherever they write on that account; ``per_chat`` is one for
    all in a chat; ``per_thread`` one per platform thread or topic, and the chat's own for what is in none;
    ``per_user_in_chat`` one per person and chat.
    """
    address = message.address
    account = f"{escape_part(address.channel)}/{escape_part(address.account)}"
    sender = escape_part(message.sender.id)
    match scope:
        case SessionScope.PER_USER:
            return f"{account}:user:{sender}"
        case SessionScope.PER_CHAT:
            return f"{chat_key(address)}:chat"
        case SessionScope.PER_THREAD:
            return f"{chat_key(address)}:thread:{escape_part(address.platform_thread or '')}"
        case SessionScope.PER_USER_IN_CHAT:
            return f"{chat_key(address)}:user:{sender}"
