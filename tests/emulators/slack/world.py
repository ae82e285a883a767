"""What the emulated Slack knows: people, channels, messages, reactions and files of one workspace."""

import asyncio
import itertools
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

TEAM = "T07QHTEAM42"
APP = "A07QHARTAPP"

SCOPES = frozenset(
    {
        "app_mentions:read",
        "channels:history",
        "chat:write",
        "commands",
        "files:read",
        "files:write",
        "groups:history",
        "im:history",
        "mpim:history",
        "reactions:write",
        "users:read",
    }
)

_ALPHABET = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_CALLS = re.compile(
    r"<!(?:channel|here|everyone)(?:\|[^>]*)?>|<!subteam\^[A-Z0-9]+(?:\|[^>]*)?>|<@[UW][A-Z0-9]+>"
)


@dataclass(frozen=True, slots=True)
class User:
    """A person, or a bot's user."""

    id: str
    name: str
    is_bot: bool = False
    bot_id: str | None = None


@dataclass(slots=True)
class Channel:
    """A conversation: ``channel``, ``group`` (private), ``mpim`` or ``im``."""

    id: str
    kind: str
    name: str
    members: set[str] = field(default_factory=set)
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that our bot posted and Slack took.

    Args:
        method: How it was posted.
        ts: Its timestamp.
        thread: Timestamp of the thread's first message, if it is in one.
        calls: What in its text would notify people.
        document: The bytes of the file, if it has one.
        params: All parameters, as they came.
        buttons: Label, action id and value of each button below it.
        seen_by: The one person who sees it, if it is not for all.
    """

    method: str
    channel: str
    ts: str
    text: str
    accepted_at: float
    thread: str | None = None
    calls: tuple[str, ...] = ()
    file_name: str | None = None
    document: bytes | None = None
    params: Json = field(default_factory=dict)
    buttons: tuple[tuple[str, str, str], ...] = ()
    seen_by: str | None = None


@dataclass(slots=True)
class ResponseUrl:
    """An address that came with a command or a press, for answers to whoever gave it.

    Args:
        replaces: The message with the button, for a press.
        uses: How often it was used.
    """

    channel: str
    user: str
    made_at: float
    replaces: Json | None = None
    uses: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the bot, whether it succeeded or not."""

    method: str
    params: Json
    at: float


@dataclass(slots=True)
class StoredFile:
    """A file; ``mode`` and ``size`` are what Slack says of it."""

    id: str
    name: str
    data: bytes
    mime: str
    owner: str
    size: int
    mode: str = "hosted"
    is_external: bool = False
    url: str | None = None
    shared: bool = False


class World:
    """The state, and the ways people change it. It outlives any bot that talks to it."""

    def __init__(self) -> None:
        self._numbers = itertools.count(41_234_567)
        self.bot = User(self.new_id("U"), "hart", True, self.new_id("B"))
        self.users: dict[str, User] = {self.bot.id: self.bot}
        self.channels: dict[str, Channel] = {}
        self.messages: dict[str, dict[str, Json]] = {}
        self.reactions: dict[tuple[str, str], set[str]] = {}
        self.ephemeral: dict[str, Json] = {}
        self.response_urls: dict[str, ResponseUrl] = {}
        self.files: dict[str, StoredFile] = {}
        self.scopes = set(SCOPES)
        self.sent: list[Sent] = []
        self.calls: list[Call] = []
        self._changed = asyncio.Event()
        self._ts = itertools.count(1)

    def new_id(self, kind: str) -> str:
        """An id such as ``U0`` and eight or so capitals and digits."""
        number, digits = next(self._numbers) * 7919, ""
        while number:
            number, digit = divmod(number, len(_ALPHABET))
            digits = _ALPHABET[digit] + digits
        return f"{kind}0{digits.rjust(9, '7')}"

    def new_ts(self) -> str:
        """A timestamp that no other message has."""
        return f"{int(time.time())}.{next(self._ts):06d}"

    def user(self, name: str, *, is_bot: bool = False) -> User:
        """A person, or another bot, known from now on."""
        user = User(self.new_id("U"), name, is_bot, self.new_id("B") if is_bot else None)
        self.users[user.id] = user
        return user

    def dm(self, user: User) -> Channel:
        """The direct chat between a person and the bot."""
        for channel in self.channels.values():
            if channel.kind == "im" and user.id in channel.members:
                return channel
        return self._add_channel("D", "im", "", {user.id, self.bot.id})

    def channel(self, name: str, *, private: bool = False, joined: bool = True) -> Channel:
        """A channel, with the bot in it unless told otherwise."""
        members = {self.bot.id} if joined else set()
        return self._add_channel("C", "group" if private else "channel", name, members)

    def group_dm(self, *users: User) -> Channel:
        """A direct chat of the bot with several people."""
        return self._add_channel("C", "mpim", "mpdm", {self.bot.id, *(user.id for user in users)})

    def _add_channel(self, prefix: str, kind: str, name: str, members: set[str]) -> Channel:
        channel = Channel(self.new_id(prefix), kind, name, members)
        self.channels[channel.id] = channel
        self.messages[channel.id] = {}
        return channel

    def keep(self, channel: Channel, message: Json) -> Json:
        """Put a message into a channel, under a new timestamp."""
        kept = {"type": "message", "ts": self.new_ts(), "team": TEAM, **message}
        thread = kept.get("thread_ts")
        if thread is not None and thread != kept["ts"]:
            root = self.messages[channel.id].get(thread)
            if root is not None:
                root["thread_ts"] = thread
                root["reply_count"] = root.get("reply_count", 0) + 1
                kept["parent_user_id"] = root.get("user")
        self.messages[channel.id][kept["ts"]] = kept
        return kept

    def announce(self, channel: Channel, message: Json) -> None:
        """Tell the app of a message that has been kept; the bot's own are told, too."""

    def store_file(
        self, name: str, data: bytes, mime: str = "application/octet-stream", owner: str = "", **more: Any
    ) -> StoredFile:
        """Keep a file that nobody has shared yet."""
        file = StoredFile(self.new_id("F"), name, data, mime, owner, **({"size": len(data)} | more))
        self.files[file.id] = file
        return file

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

    def count(self, method: str) -> int:
        """How often a method was called."""
        return sum(call.method == method for call in self.calls)

    async def wait_for_sent(self, count: int = 1, timeout: float = 10) -> list[Sent]:
        """Wait until the bot has posted so many messages and return all of them."""
        await self.wait_for(lambda: len(self.sent) >= count, timeout)
        return list(self.sent)


def calls_in(text: str) -> tuple[str, ...]:
    """What in a text Slack would notify people by, wherever it stands."""
    return tuple(_CALLS.findall(text))
