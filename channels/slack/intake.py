"""From what Slack delivers to what the inbox has stored. Returning means that it may be acknowledged."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256

from channels.channel import Inbox
from channels.errors import InboxUnavailableError
from channels.messages import InboundMessage
from channels.slack.api import ApiError
from channels.slack.events import MessageEvent
from channels.slack.normalize import (
    CHANNEL,
    BotIdentity,
    Ignored,
    Known,
    MalformedEventError,
    needs_thread_lookup,
    normalize,
    normalize_command,
    normalize_press,
    origin,
    people_in,
    read_command,
    read_event,
    read_press,
)
from channels.slack.people import LOOKUP_SECONDS, People, Thread

log = logging.getLogger(__name__)

PRESS_SECONDS = 2.5
"""How long a press may take to be stored before it is confirmed anyhow: Slack waits for three, tells the
person that it failed, and does not deliver it again."""

_RAW_LIMIT = 100_000


class NotStoredError(Exception):
    """It must be delivered again; do not acknowledge it. The text says why, and nothing of its content."""


class Intake:
    """Stores what one app hears in one workspace, in the order in which it is delivered in a channel.

    Args:
        inbox: Where it goes.
        account: Name of the account, for keys, addresses and the log.
        bot: Who we are.
        people: Looks up what events leave out.
    """

    def __init__(self, inbox: Inbox, account: str, bot: BotIdentity, people: People) -> None:
        self.bot = bot
        self._inbox = inbox
        self._account = account
        self._people = people
        self._places: dict[str, _Place] = {}
        self._storing: set[asyncio.Task[None]] = set()

    async def event(self, payload: Mapping[str, object]) -> None:
        """Take in the payload of an event.

        Raises:
            NotStoredError: See there.
        """
        try:
            event = read_event(payload, self.bot)
            if isinstance(event, Ignored):
                log.debug("slack/%s: ignored an event: %s", self._account, event.reason)
                return
        except MalformedEventError as fault:
            await self.set_aside(payload, str(fault))
            return
        async with self._in_order(event.channel):
            message = normalize(event, self._account, self.bot, await self._look_up(event))
            if isinstance(message, Ignored):
                log.debug("slack/%s: ignored %s: %s", self._account, event.ts, message.reason)
                return
            await self._store(message)

    async def command(self, payload: Mapping[str, object]) -> None:
        """Take in the payload of a slash command.

        Raises:
            NotStoredError: See there.
        """
        try:
            command = read_command(payload)
        except MalformedEventError as fault:
            await self.set_aside(payload, str(fault))
            return
        async with self._in_order(command.channel_id):
            await self._store(normalize_command(command, self._account, self.bot))

    async def press(self, payload: Mapping[str, object]) -> None:
        """Take in the payload of a press. It waits for nothing else that came from its channel.

        Raises:
            NotStoredError: See there.
        """
        try:
            message = normalize_press(read_press(payload), self._account, self.bot)
        except MalformedEventError as fault:
            await self.set_aside(payload, str(fault))
            return
        if isinstance(message, Ignored):
            log.debug("slack/%s: ignored a press: %s", self._account, message.reason)
            return
        storing = asyncio.create_task(self._store(message))
        self._storing.add(storing)
        storing.add_done_callback(self._stored)
        done, _ = await asyncio.wait({storing}, timeout=PRESS_SECONDS)
        if done:
            storing.result()

    async def finish(self) -> None:
        """Wait until what was confirmed is stored."""
        await asyncio.gather(*self._storing, return_exceptions=True)

    async def set_aside(self, payload: object, reason: str) -> None:
        """Record what cannot be understood.

        Raises:
            NotStoredError: See there.
        """
        text = _as_text(payload)
        log.warning("slack/%s: set aside what came: %s", self._account, reason)
        key = f"{CHANNEL}:{self._account}:{self.bot.team_id}:unread:{_identity(payload, text)}"
        try:
            await self._inbox.reject(origin(payload, self._account), key, text[:_RAW_LIMIT], reason)
        except InboxUnavailableError as error:
            raise NotStoredError(f"it cannot be stored: {error}") from error

    async def _store(self, message: InboundMessage) -> None:
        try:
            await self._inbox.accept(message)
        except InboxUnavailableError as error:
            raise NotStoredError(f"it cannot be stored: {error}") from error

    def _stored(self, task: asyncio.Task[None]) -> None:
        self._storing.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.warning("slack/%s: a press was not stored: %s", self._account, task.exception())

    async def _look_up(self, event: MessageEvent) -> Known:
        names = await self._people.names(people_in(event, self.bot))
        ours = False
        if event.thread_ts is not None and needs_thread_lookup(event, self.bot):
            try:
                async with asyncio.timeout(LOOKUP_SECONDS):
                    ours = await self._people.is_ours(Thread(event.channel, event.thread_ts), self.bot)
            except (ApiError, TimeoutError) as fault:
                raise NotStoredError(f"its thread cannot be looked up: {fault}") from fault
        return Known(names, ours)

    @asynccontextmanager
    async def _in_order(self, channel: str) -> AsyncIterator[None]:
        """Wait for one's turn: look-ups must not let a later message overtake."""
        place = self._places.setdefault(channel, _Place())
        place.users += 1
        try:
            async with place.lock:
                yield
        finally:
            place.users -= 1
            if place.users == 0:
                del self._places[channel]


class _Place:
    """The queue of one channel."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.users = 0


def _identity(payload: object, text: str) -> str:
    """The event's own id; without one its content has to serve."""
    event_id = payload.get("event_id") if isinstance(payload, dict) else None
    if isinstance(event_id, str) and event_id.isascii() and event_id.isalnum() and len(event_id) <= 40:
        return event_id
    return sha256(text.encode()).hexdigest()


def _as_text(payload: object) -> str:
    """As JSON, without what would let somebody act in our name for a while."""
    shown = payload
    if isinstance(payload, dict):
        shown = {key: value for key, value in payload.items() if key not in ("token", "response_url")}
    try:
        return json.dumps(shown)
    except (RecursionError, TypeError, ValueError):
        return "(cannot be written down)"
