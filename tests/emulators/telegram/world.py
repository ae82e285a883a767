"""What the emulated Telegram knows: people, chats, messages, files, and the bot's queue of updates."""

import asyncio
import itertools
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class User:
    """A person."""

    id: int
    name: str
    username: str | None = None
    is_bot: bool = False

    def as_json(self) -> Json:
        """As the Bot API shows a user."""
        shown: Json = {"id": self.id, "is_bot": self.is_bot, "first_name": self.name}
        return shown | ({"username": self.username} if self.username else {})


@dataclass(frozen=True, slots=True)
class Chat:
    """A private chat or a group."""

    id: int
    type: str
    title: str
    is_forum: bool = False

    def as_json(self) -> Json:
        """As the Bot API shows a chat."""
        shown: Json = {"id": self.id, "type": self.type}
        shown["first_name" if self.type == "private" else "title"] = self.title
        return shown | ({"is_forum": True} if self.is_forum else {})


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that the bot posted and Telegram took.

    Args:
        method: How it was posted.
        accepted_at: When (seconds since the epoch).
        document: The bytes of the file, if it was one.
        params: All parameters, as they came.
        buttons: Label and data of each button below it.
    """

    method: str
    chat_id: int
    message_id: int
    text: str
    accepted_at: float
    reply_to: int | None = None
    thread: int | None = None
    file_name: str | None = None
    document: bytes | None = None
    params: Json = field(default_factory=dict)
    buttons: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the bot, whether it succeeded or not."""

    method: str
    params: Json
    at: float


@dataclass(slots=True)
class StoredFile:
    """A file that a person sent; ``size`` may claim more than ``data`` holds."""

    path: str
    data: bytes
    size: int


class World:
    """The state, and the ways people change it. It outlives any bot that talks to it."""

    def __init__(self, bot: User) -> None:
        self.bot = bot
        self.users: dict[int, User] = {bot.id: bot}
        self.chats: dict[int, Chat] = {}
        self.topics: dict[tuple[int, int], int] = {}
        self.blocked: set[int] = set()
        self.migrated: dict[int, int] = {}
        self.messages: dict[tuple[int, int], Json] = {}
        self.files: dict[str, StoredFile] = {}
        self.updates: list[tuple[int, bytes]] = []
        self.sent: list[Sent] = []
        self.calls: list[Call] = []
        self.acknowledged = 0
        self.ignored_acks = 0
        self.webhook = ""
        self.presses: set[str] = set()
        self.allowed_updates: list[str] | None = None
        self.revoked = False
        self._changed = asyncio.Event()
        self._update_ids = itertools.count(int(time.time()) % 10**9)
        self._chat_ids = itertools.count(2_000_000_001)
        self._file_ids = itertools.count(1)
        self._query_ids = itertools.count(1)
        self._album_ids = itertools.count(1)
        # Private chats and basic groups share one counter; a supergroup has its own, in which 1 is the
        # notice of its creation, and so the General topic of a forum.
        self._message_ids: dict[int, itertools.count[int]] = {
            0: itertools.count(int(time.time()) % 10**6 + 1)
        }

    def user(self, user_id: int, name: str, username: str | None = None, *, is_bot: bool = False) -> User:
        """A person, known from now on."""
        self.users[user_id] = User(user_id, name, username, is_bot)
        return self.users[user_id]

    def private_chat(self, user: User) -> Chat:
        """The chat between a person and the bot; its id is the person's."""
        return self.chats.setdefault(user.id, Chat(user.id, "private", user.name))

    def group(self, title: str, *, forum: bool = False, basic: bool = False) -> Chat:
        """A supergroup with the bot in it, or a basic group."""
        number = next(self._chat_ids)
        chat = Chat(
            -number if basic else -(10**12) - number, "group" if basic else "supergroup", title, forum
        )
        self.chats[chat.id] = chat
        return chat

    def topic(self, chat: Chat, name: str) -> int:
        """A topic in a forum: its thread id."""
        message_id = self.next_message_id(chat)
        self.topics[chat.id, message_id] = message_id
        self.messages[chat.id, message_id] = {
            "message_id": message_id,
            "from": self.bot.as_json(),
            "chat": chat.as_json(),
            "date": int(time.time()),
            "message_thread_id": message_id,
            "is_topic_message": True,
            "forum_topic_created": {"name": name, "icon_color": 7322096},
        }
        return message_id

    def migrate(self, chat: Chat) -> Chat:
        """Make a basic group a supergroup, which has another id."""
        new = self.group(chat.title)
        self.migrated[chat.id] = new.id
        return new

    def say(self, chat: Chat, user: User, text: str, **message: Any) -> Json:
        """A person writes; ``message`` holds further fields, see :meth:`post`."""
        message.setdefault("entities", entities_of(text))
        return self.post(chat, user, text=text, **message)

    def send_document(
        self,
        chat: Chat,
        user: User,
        name: str | None,
        data: bytes,
        *,
        kind: str = "document",
        mime: str | None = None,
        size: int | None = None,
        **message: Any,
    ) -> Json:
        """A person sends a file; ``kind`` may also be ``voice``, ``audio`` or ``video``."""
        shown: Json = {
            "file_id": self.store_file(data, size),
            "file_size": len(data) if size is None else size,
        }
        shown |= {"file_name": name} if name is not None else {}
        shown |= {"mime_type": mime} if mime else {}
        return self.post(chat, user, **(message | {kind: shown}))

    def send_photo(self, chat: Chat, user: User, data: bytes, **message: Any) -> Json:
        """A person sends a photo, which Telegram offers in several sizes."""
        sizes = [
            {"file_id": self.store_file(data[: 10 * scale]), "width": 90 * scale, "height": 60 * scale}
            for scale in (1, 3, 2)
        ]
        sizes[1]["file_id"] = self.store_file(data)
        return self.post(chat, user, photo=sizes, **message)

    def new_album(self) -> str:
        """An id for an album: each of its files is a message of its own with this ``media_group_id``."""
        return f"1396{next(self._album_ids):013d}"

    def send_album(
        self, chat: Chat, user: User, files: Mapping[str, bytes], captions: Mapping[str, str], **message: Any
    ) -> list[Json]:
        """A person sends documents as one, some with a caption: an update for each, one after the other."""
        album = self.new_album()
        return [
            self.send_document(
                chat,
                user,
                name,
                data,
                media_group_id=album,
                **({"caption": captions[name]} if name in captions else {}),
                **message,
            )
            for name, data in files.items()
        ]

    def press(self, sent: Sent, label: str, user: User) -> str:
        """A person presses a button below a message of the bot: the id of the query.

        As with Telegram, the bot hears of it only if its polls ask for presses.

        Raises:
            KeyError: There is no such button.
        """
        return self.press_data(sent, dict(sent.buttons)[label], user)

    def press_data(self, sent: Sent, data: str, user: User) -> str:
        """The same with data of one's own, as a modified client can send it."""
        number = next(self._query_ids)
        query = f"{user.id}{number:010d}"
        self.presses.add(query)
        if self.allowed_updates is None or "callback_query" in self.allowed_updates:
            self.push_raw(
                {
                    "callback_query": {
                        "id": query,
                        "from": user.as_json(),
                        "message": self.messages[sent.chat_id, sent.message_id],
                        "chat_instance": "-4242",
                        "data": data,
                    }
                }
            )
        return query

    def post(
        self,
        chat: Chat,
        user: User,
        *,
        reply_to: int | None = None,
        thread: int | None = None,
        **content: Any,
    ) -> Json:
        """Put a message of a person into a chat and into the bot's queue."""
        content = {"from": user.as_json(), **content}
        if "caption" in content:
            content.setdefault("caption_entities", entities_of(content["caption"]))
        message = self.keep(chat, content, reply_to, thread)
        self.push_raw({"message": message})
        return message

    def keep(self, chat: Chat, content: Json, reply_to: int | None, thread: int | None) -> Json:
        """Put a message into a chat."""
        message: Json = {
            "message_id": self.next_message_id(chat),
            "chat": chat.as_json(),
            "date": int(time.time()),
            **content,
        }
        if thread is not None:
            message |= {"message_thread_id": thread, "is_topic_message": True}
        answered = reply_to if reply_to is not None else thread
        if answered is not None:
            original = self.messages[chat.id, answered]
            message["reply_to_message"] = {k: v for k, v in original.items() if k != "reply_to_message"}
        self.messages[chat.id, message["message_id"]] = message
        return message

    def push_raw(self, update: Any, *, stamp: bool = True) -> int:
        """Put anything into the bot's queue; returns its update id.

        Args:
            update: An update, which gets an ``update_id`` if it has none; or JSON as bytes, in which
                ``%ID%`` stands for the id.
            stamp: False leaves the update as it is.
        """
        update_id = next(self._update_ids)
        if isinstance(update, bytes):
            data = update.replace(b"%ID%", str(update_id).encode())
        else:
            if isinstance(update, dict) and stamp:
                update = {"update_id": update_id, **update}
            data = json.dumps(update).encode()
        self.updates.append((update_id, data))
        self.notify()
        return update_id

    def store_file(self, data: bytes, size: int | None = None) -> str:
        """Keep a file: its id."""
        number = next(self._file_ids)
        file_id = f"BQACAgIAAxkBAAI{number:08d}"
        self.files[file_id] = StoredFile(
            f"documents/file_{number}", data, len(data) if size is None else size
        )
        return file_id

    def next_message_id(self, chat: Chat) -> int:
        """The next message number where this chat counts."""
        counter = chat.id if chat.type == "supergroup" else 0
        return next(self._message_ids.setdefault(counter, itertools.count(2)))

    def revoke(self) -> None:
        """The token stops being known, also for a poll that is waiting."""
        self.revoked = True
        self.notify()

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


def entities_of(text: str) -> list[Json]:
    """Commands and mentions as Telegram marks them; offsets in UTF-16 code units."""
    found = []
    for match in re.finditer(r"(?<!\S)/[A-Za-z0-9_]{1,32}(?:@\w+)?|(?<!\w)@\w{5,32}", text):
        offset, length = (len(part.encode("utf-16-le")) // 2 for part in (text[: match.start()], match[0]))
        kind = "bot_command" if match[0].startswith("/") else "mention"
        found.append({"type": kind, "offset": offset, "length": length})
    return found
