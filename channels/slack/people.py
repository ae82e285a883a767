"""What Slack has to be asked about an event: names of people, and whether a thread is ours.

Both are remembered for a while. A name that cannot be had does no harm; a thread that cannot be looked
up now is asked about again when Slack delivers the event again.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from channels.slack.api import ApiCall, ApiError, Encoding, Json, RefusedError, SlackApi
from channels.slack.normalize import BotIdentity

log = logging.getLogger(__name__)

_KeyT = TypeVar("_KeyT")
_ValueT = TypeVar("_ValueT")

NAME_SECONDS = 3600.0
"""How long a name is remembered."""

MISS_SECONDS = 60.0
"""How long it is remembered that a name could not be had, or that a thread is none of ours."""

LOOKUP_SECONDS = 1.5
"""How long an event may wait for names. Slack wants an answer within 3 s (Slack docs, Events API)."""

_MOST_REMEMBERED = 5000
_REPLIES = 999
_LASTING = frozenset(
    {"missing_scope", "channel_not_found", "not_in_channel", "thread_not_found", "message_not_found"}
)


class Recent(Generic[_KeyT, _ValueT]):
    """Remembers the newest entries, each for its own time.

    Args:
        monotonic: Seconds that only grow.
        most: How many are kept.
    """

    def __init__(self, monotonic: Callable[[], float], most: int = _MOST_REMEMBERED) -> None:
        self._monotonic = monotonic
        self._most = most
        self._entries: OrderedDict[_KeyT, tuple[float, _ValueT]] = OrderedDict()

    def get(self, key: _KeyT) -> _ValueT | None:
        """What is remembered, if it still holds."""
        entry = self._entries.get(key)
        return entry[1] if entry is not None and entry[0] > self._monotonic() else None

    def put(self, key: _KeyT, value: _ValueT, seconds: float) -> None:
        """Remember something for some seconds."""
        self._entries[key] = (self._monotonic() + seconds, value)
        self._entries.move_to_end(key)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread, by the timestamp of its first message."""

    channel: str
    root: str


class People:
    """Answers from memory, or from Slack.

    Args:
        client: The Web API.
        account: Name of the account, for the log.
        monotonic: Seconds that only grow.
    """

    def __init__(self, client: SlackApi, account: str, monotonic: Callable[[], float]) -> None:
        self._client = client
        self._account = account
        self._names: Recent[str, str] = Recent(monotonic)
        self._threads: Recent[Thread, bool] = Recent(monotonic)
        self._told: set[str] = set()

    async def names(self, users: Iterable[str]) -> dict[str, str]:
        """Names by id; those that cannot be had in time are missing."""
        wanted = sorted(users)
        unknown = [user for user in wanted if self._names.get(user) is None]
        if unknown:
            try:
                async with asyncio.timeout(LOOKUP_SECONDS):
                    await asyncio.gather(*(self._ask_name(user) for user in unknown))
            except TimeoutError:
                log.info("slack/%s: names not had in time", self._account)
                for user in unknown:
                    if self._names.get(user) is None:
                        self._names.put(user, "", MISS_SECONDS)
        found = ((user, self._names.get(user)) for user in wanted)
        return {user: name for user, name in found if name}

    async def _ask_name(self, user: str) -> None:
        try:
            answer = await self._client.call(ApiCall("users.info", {"user": user}, Encoding.QUERY))
        except ApiError as fault:
            self._tell_once("names of people", fault)
            self._names.put(user, "", MISS_SECONDS)
            return
        self._names.put(user, _shown_name(answer), NAME_SECONDS)

    async def is_ours(self, thread: Thread, bot: BotIdentity) -> bool:
        """True when we have written in a thread. Of a very long one the first 999 messages count.

        Raises:
            ApiError: It cannot be told now.
        """
        known = self._threads.get(thread)
        if known is not None:
            return known
        params: dict[str, Json] = {
            "channel": thread.channel,
            "ts": thread.root,
            "limit": _REPLIES,
        }
        try:
            answer = await self._client.call(ApiCall("conversations.replies", params, Encoding.QUERY))
        except RefusedError as fault:
            if fault.error not in _LASTING:
                raise
            self._tell_once("who wrote in threads", fault)
            self._threads.put(thread, False, MISS_SECONDS)
            return False
        ours = _has_message_of(answer, bot)
        self._threads.put(thread, ours, NAME_SECONDS if ours else MISS_SECONDS)
        return ours

    def wrote_in(self, thread: Thread) -> None:
        """Remember that we have just written in a thread."""
        self._threads.put(thread, True, NAME_SECONDS)

    def _tell_once(self, what: str, fault: ApiError) -> None:
        """A missing scope concerns every message, but one line is enough."""
        lasting = isinstance(fault, RefusedError) and fault.error == "missing_scope"
        level = logging.WARNING if lasting and what not in self._told else logging.DEBUG
        if lasting:
            self._told.add(what)
        log.log(level, "slack/%s: cannot look up %s: %s", self._account, what, fault)


def _shown_name(answer: dict[str, Any]) -> str:
    """The name that people see in Slack: the display name, else the real one (``users.info``)."""
    match answer:
        case {"user": {"profile": {"display_name": str(name)}}} if name.strip():
            return name
        case {"user": {"real_name": str(name)}} if name.strip():
            return name
        case {"user": {"name": str(name)}}:
            return name
    return ""


def _has_message_of(answer: dict[str, Any], bot: BotIdentity) -> bool:
    messages = answer.get("messages")
    if not isinstance(messages, list):
        return False
    return any(
        isinstance(one, dict) and (one.get("user") == bot.user_id or one.get("bot_id") == bot.bot_id)
        for one in messages
    )
