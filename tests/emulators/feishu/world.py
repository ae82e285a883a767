"""What the emulated Feishu knows: people, chats, messages, files, and the events it has to deliver."""

import asyncio
import json
import re
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


def new_id(prefix: str) -> str:
    """An id as the platform makes them."""
    return f"{prefix}_{uuid.uuid4().hex}"


@dataclass(frozen=True, slots=True)
class User:
    """A person, or the bot itself."""

    name: str
    open_id: str
    union_id: str
    user_id: str

    @classmethod
    def new(cls, name: str) -> "User":
        """Somebody."""
        return cls(name, new_id("ou"), new_id("on"), uuid.uuid4().hex[:8])

    def ids(self) -> Json:
        """As events show a person."""
        return {"open_id": self.open_id, "union_id": self.union_id, "user_id": self.user_id}


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat; ``type`` is ``p2p``, ``group`` or ``topic_group``."""

    id: str
    type: str
    title: str


@dataclass(slots=True)
class Message:
    """A message in a chat."""

    id: str
    chat: Chat
    kind: str
    content: str
    sender: User | None
    created_ms: int
    mentions: list[Json] = field(default_factory=list)
    root_id: str | None = None
    parent_id: str | None = None
    thread_id: str | None = None
    recalled: bool = False
    edits: int = 0
    children: list["Message"] = field(default_factory=list)
    upper_id: str | None = None
    reactions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that the bot posted and the platform took.

    Args:
        method: ``create`` or ``reply``.
        kind: Message type.
        text: The words of a text, post or card.
        accepted_at: When (seconds since the epoch).
        reply_to: The message it answers.
        in_thread: Whether it was to be put into a thread.
        data: The bytes of the file or picture, if it is one.
        content: Its content, parsed.
    """

    method: str
    chat_id: str
    message_id: str
    kind: str
    text: str
    accepted_at: float
    uuid: str
    reply_to: str | None = None
    in_thread: bool = False
    thread_id: str | None = None
    file_name: str | None = None
    data: bytes | None = None
    content: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the bot, whether it succeeded or not."""

    method: str
    params: Json
    at: float


@dataclass(slots=True)
class Delivery:
    """An event on its way to the bot.

    Args:
        event_id: Equal in every try.
        payload: What is sent.
        tries: How often it was put on a connection.
        codes: What came back, try by try; 0 for nothing in time.
        acked: The bot has taken it.
        lost: The last try failed: it will not come again.
        answer: What a callback was answered.
        callback: Somebody waits for it, so it is sent once only.
    """

    event_id: str
    payload: bytes
    tries: int = 0
    codes: list[int] = field(default_factory=list)
    acked: bool = False
    lost: bool = False
    answer: Any = None
    callback: bool = False


@dataclass(frozen=True, slots=True)
class StoredFile:
    """Bytes with the name they were given; ``image`` for pictures."""

    name: str
    data: bytes
    image: bool = False


class World:
    """The state, and the ways people change it. It outlives any bot that talks to it."""

    def __init__(self, app_id: str, bot_name: str) -> None:
        self.app_id = app_id
        self.tenant_key = uuid.uuid4().hex[:16]
        self.bot = User.new(bot_name)
        self.users: dict[str, User] = {bot_name: self.bot}
        self.chats: dict[str, Chat] = {}
        self.left: set[str] = set()
        self.messages: dict[str, Message] = {}
        self.files: dict[str, StoredFile] = {}
        self.sent: list[Sent] = []
        self.calls: list[Call] = []
        self.deliveries: list[Delivery] = []
        self._changed = asyncio.Event()

    def user(self, name: str) -> User:
        """A person, known from now on by that name."""
        return self.users.setdefault(name, User.new(name))

    def p2p(self, user: User) -> Chat:
        """The direct chat between a person and the bot."""
        for chat in self.chats.values():
            if chat.type == "p2p" and chat.title == user.open_id:
                return chat
        return self._chat("p2p", user.open_id)

    def group(self, title: str, *, topics: bool = False) -> Chat:
        """A group with the bot in it; with ``topics``, every message begins one."""
        return self._chat("topic_group" if topics else "group", title)

    def kick(self, chat: Chat) -> None:
        """The bot is no longer in a group."""
        self.left.add(chat.id)

    def say(self, chat: Chat, user: User, text: str, **more: Any) -> Message:
        """A person writes; ``@Name`` of somebody known is a mention, ``@all`` that of everyone."""
        marked, mentions = self.mark(text)
        return self.post(chat, user, "text", {"text": marked}, mentions=mentions, **more)

    def mark(self, text: str) -> tuple[str, list[Json]]:
        """Text with placeholders for mentions, and who they are."""
        mentions: list[Json] = []
        names = sorted(self.users, key=len, reverse=True)
        pattern = re.compile("@(?:" + "|".join([*map(re.escape, names), "all(?![A-Za-z])"]) + ")")

        def place(match: re.Match[str]) -> str:
            name = match[0][1:]
            if name not in self.users:
                return "@_all"
            for known in mentions:
                if known["name"] == name:
                    return str(known["key"])
            key = f"@_user_{len(mentions) + 1}"
            mentions.append(
                {"key": key, "id": self.users[name].ids(), "name": name, "tenant_key": self.tenant_key}
            )
            return key

        return pattern.sub(place, text), mentions

    def send_file(
        self, chat: Chat, user: User, name: str, data: bytes, *, kind: str = "file", **more: Any
    ) -> Message:
        """A person sends a file; ``kind`` may also be ``audio`` or ``media``."""
        content: Json = {"file_key": self.store(name, data)}
        content |= {"duration": 1000} if kind != "file" else {}
        content |= {"file_name": name} if kind != "audio" else {}
        content |= {"image_key": self.store("cover", b"png", image=True)} if kind == "media" else {}
        return self.post(chat, user, kind, content, **more)

    def send_image(self, chat: Chat, user: User, data: bytes, **more: Any) -> Message:
        """A person sends a picture."""
        return self.post(chat, user, "image", {"image_key": self.store("picture", data, image=True)}, **more)

    def forward(self, chat: Chat, user: User, messages: list[tuple[User, str, Json]]) -> Message:
        """A person forwards several messages as one."""
        content = {"content": "Merged and Forwarded Message"}
        message = self.post(chat, user, "merge_forward", content, push=False)
        for sender, kind, body in messages:
            child = self._make(chat, sender, kind, json.dumps(body))
            child.upper_id = message.id
            message.children.append(child)
        self.push_message(message)
        return message

    def post(
        self,
        chat: Chat,
        user: User | None,
        kind: str,
        content: Mapping[str, Any] | str,
        *,
        mentions: list[Json] | None = None,
        reply_to: str | None = None,
        in_thread: bool = False,
        push: bool = True,
    ) -> Message:
        """Put a message into a chat, and tell the bot unless it wrote it (``user`` is None)."""
        body = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        message = self._make(chat, user, kind, body)
        message.mentions = mentions or []
        if reply_to is not None:
            answered = self.messages[reply_to]
            message.parent_id = answered.id
            message.root_id = answered.root_id or answered.id
            root = self.messages[message.root_id]
            if in_thread or answered.thread_id is not None:
                root.thread_id = root.thread_id or new_id("omt")
                message.thread_id = root.thread_id
        elif chat.type == "topic_group":
            message.thread_id = new_id("omt")
        self.messages[message.id] = message
        if push and user is not None:
            self.push_message(message)
        self.notify()
        return message

    def recall(self, message_id: str) -> None:
        """A message is withdrawn."""
        self.messages[message_id].recalled = True

    def push_message(self, message: Message, sender_type: str = "user") -> Delivery:
        """Tell the bot of a message."""
        sender = message.sender
        shown: Json = {
            "message_id": message.id,
            "create_time": str(message.created_ms),
            "update_time": str(message.created_ms),
            "chat_id": message.chat.id,
            "chat_type": message.chat.type,
            "message_type": message.kind,
            "content": message.content,
        }
        for name in ("root_id", "parent_id", "thread_id"):
            if getattr(message, name) is not None:
                shown[name] = getattr(message, name)
        if message.mentions:
            shown["mentions"] = message.mentions
        who = {
            "sender_id": sender.ids() if sender else None,
            "sender_type": sender_type,
            "tenant_key": self.tenant_key,
        }
        return self.push("im.message.receive_v1", {"sender": who, "message": shown})

    def use_card(self, message_id: str, user: User, value: Json) -> Delivery:
        """A person presses a button on a card."""
        message = self.messages[message_id]
        event = {
            "operator": {"tenant_key": self.tenant_key, **user.ids()},
            "token": new_id("c"),
            "action": {"value": value, "tag": "button"},
            "host": "im_message",
            "context": {"open_message_id": message_id, "open_chat_id": message.chat.id},
        }
        return self.push("card.action.trigger", event, callback=True)

    def press(self, message_id: str, user: User, label: str) -> Delivery:
        """A person presses the button with that label on a card of the bot.

        The card is the one that was sent first: a client may not know yet that it has changed.
        """
        card = next(sent.content for sent in self.sent if sent.message_id == message_id)
        for element in card["body"]["elements"]:
            if element["tag"] == "button" and element["text"]["content"] == label:
                return self.use_card(message_id, user, element["behaviors"][0]["value"])
        raise AssertionError(f"there is no button {label!r}")

    def push(self, event_type: str, event: Any, *, callback: bool = False) -> Delivery:
        """Have an event of any type delivered."""
        event_id = uuid.uuid4().hex
        body = {
            "schema": "2.0",
            "header": {
                "event_id": event_id,
                "event_type": event_type,
                "create_time": str(int(time.time() * 1000)),
                "token": "",
                "app_id": self.app_id,
                "tenant_key": self.tenant_key,
            },
            "event": event,
        }
        return self.push_raw(json.dumps(body, ensure_ascii=False).encode(), event_id, callback=callback)

    def push_raw(self, payload: bytes, event_id: str = "", *, callback: bool = False) -> Delivery:
        """Have any bytes delivered as an event."""
        delivery = Delivery(event_id or uuid.uuid4().hex, payload, callback=callback)
        self.deliveries.append(delivery)
        self._dispatch(delivery)
        self.notify()
        return delivery

    def store(self, name: str, data: bytes, *, image: bool = False) -> str:
        """Keep a file or picture: its key."""
        key = f"{'img' if image else 'file'}_v3_00ab_{uuid.uuid4()}"
        self.files[key] = StoredFile(name, data, image)
        return key

    def notify(self) -> None:
        """Wake all who wait for a change."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait_for(self, predicate: Callable[[], Any], timeout: float = 10) -> Any:
        """Wait until something is true of the state and return it.

        Raises:
            TimeoutError: It did not become true.
        """
        async with asyncio.timeout(timeout):
            while not (found := predicate()):
                await self._changed.wait()
        return found

    def _chat(self, kind: str, title: str) -> Chat:
        chat = Chat(new_id("oc"), kind, title)
        self.chats[chat.id] = chat
        return chat

    def _make(self, chat: Chat, sender: User | None, kind: str, content: str) -> Message:
        return Message(new_id("om"), chat, kind, content, sender, int(time.time() * 1000))

    def _dispatch(self, delivery: Delivery) -> None:
        raise NotImplementedError
