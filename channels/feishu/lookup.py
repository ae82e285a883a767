"""Asking for what events leave out: is a message ours, what does a forward hold, is a chat direct?"""

import logging
from collections import OrderedDict

from pydantic import ValidationError

from channels.feishu.api import ApiCall, OpenApi, RefusedError
from channels.feishu.content import MalformedContentError, read_content
from channels.feishu.events import FoundMessage
from channels.messages import ChatKind

log = logging.getLogger(__name__)

_MOST_REMEMBERED = 10_000
_MOST_FORWARDED = 100
_FORWARD_LIMIT = 50_000


class OwnMessages:
    """Knows which messages are ours: those it was told of, and the answers to earlier questions.

    Args:
        client: The open platform.
        app_id: The sender of our messages.
    """

    def __init__(self, client: OpenApi, app_id: str) -> None:
        self._client = client
        self._app_id = app_id
        self._ours: OrderedDict[str, bool] = OrderedDict()

    def remember(self, message_id: str, *, ours: bool = True) -> None:
        """Keep what is known of a message; the oldest is forgotten when there are too many."""
        self._ours[message_id] = ours
        self._ours.move_to_end(message_id)
        if len(self._ours) > _MOST_REMEMBERED:
            self._ours.popitem(last=False)

    async def any_ours(self, message_ids: tuple[str, ...]) -> bool:
        """Whether one of these messages is ours. What the platform does not let us see is not.

        Raises:
            ApiError: The platform gave no answer.
        """
        if any(self._ours.get(message_id) for message_id in message_ids):
            return True
        for message_id in message_ids:
            if message_id not in self._ours:
                self.remember(message_id, ours=await self._ask(message_id))
            if self._ours[message_id]:
                return True
        return False

    async def _ask(self, message_id: str) -> bool:
        try:
            found = await find_messages(self._client, message_id)
        except RefusedError as refused:
            if _passing(refused):
                raise
            log.info("feishu: cannot see a message that was answered: %s", refused)
            return False
        return any(
            one.message_id == message_id and one.sender.sender_type == "app" and one.sender.id == self._app_id
            for one in found
        )


class ChatKinds:
    """Knows whether a chat is direct: from the messages in it, or by asking.

    Args:
        client: The open platform.
    """

    def __init__(self, client: OpenApi) -> None:
        self._client = client
        self._kinds: OrderedDict[str, ChatKind] = OrderedDict()

    def remember(self, chat_id: str, kind: ChatKind) -> None:
        """Keep what a message told."""
        self._kinds[chat_id] = kind
        self._kinds.move_to_end(chat_id)
        if len(self._kinds) > _MOST_REMEMBERED:
            self._kinds.popitem(last=False)

    async def of(self, chat_id: str) -> ChatKind:
        """The kind of a chat. What the platform does not let us see counts as a group.

        Raises:
            ApiError: The platform gave no answer.
        """
        if chat_id not in self._kinds:
            self.remember(chat_id, await self._ask(chat_id))
        return self._kinds[chat_id]

    async def _ask(self, chat_id: str) -> ChatKind:
        try:
            answer = await self._client.call(ApiCall("GET", f"/open-apis/im/v1/chats/{chat_id}"))
        except RefusedError as refused:
            if _passing(refused):
                raise
            log.info("feishu: cannot see what kind a chat is of: %s", refused)
            return ChatKind.GROUP
        data = answer.get("data")
        mode = data.get("chat_mode") if isinstance(data, dict) else None
        return ChatKind.DIRECT if mode == "p2p" else ChatKind.GROUP


async def find_messages(client: OpenApi, message_id: str) -> list[FoundMessage]:
    """A message and, for a forward, the messages in it. Those that cannot be read are left out.

    Raises:
        ApiError: The platform gave no answer.
    """
    answer = await client.call(ApiCall("GET", f"/open-apis/im/v1/messages/{message_id}"))
    found = []
    match answer.get("data"):
        case {"items": list(items)}:
            for item in items[: _MOST_FORWARDED + 1]:
                try:
                    found.append(FoundMessage.model_validate(item))
                except ValidationError:
                    log.debug("feishu: left out a message that cannot be read")
    return found


async def forwarded_text(client: OpenApi, message_id: str) -> str:
    """What a forward holds, as text; a word in its place when the platform does not tell.

    Raises:
        ApiError: The platform gave no answer.
    """
    try:
        found = await find_messages(client, message_id)
    except RefusedError as refused:
        if _passing(refused):
            raise
        log.info("feishu: cannot see a forward: %s", refused)
        return "[forwarded messages, which I am not allowed to read]"
    return read_forwarded([one for one in found if one.message_id != message_id])


def read_forwarded(messages: list[FoundMessage]) -> str:
    """Forwarded messages as text, one paragraph each. Pure."""
    lines = ["[forwarded messages]"]
    for one in messages:
        try:
            content = read_content(one.msg_type, one.body.content, one.message_id)
        except MalformedContentError:
            lines.append("[a message that cannot be read]")
            continue
        # The platform hands out no files of forwarded messages (error 234043).
        names = [f"[file: {file.name}]" for file in content.attachments]
        lines.append("\n".join(part for part in (content.text, *names) if part))
    return "\n\n".join(lines)[:_FORWARD_LIMIT]


def _passing(refused: RefusedError) -> bool:
    return refused.status >= 500 or refused.too_often or not refused.from_platform
