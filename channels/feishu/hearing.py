"""From the payload of an event to the inbox, and to the answer that the platform gets."""

import asyncio
import hashlib
import json
import logging
from dataclasses import dataclass, replace

from channels.channel import Inbox
from channels.errors import InboxUnavailableError
from channels.feishu.api import ApiCall, ApiError, GarbledError, OpenApi
from channels.feishu.lookup import ChatKinds, OwnMessages, forwarded_text
from channels.feishu.normalize import (
    CARD_EVENT,
    CHANNEL,
    BotIdentity,
    Heard,
    MalformedEventError,
    Pressed,
    normalize,
    origin,
    parse,
    with_text,
)
from channels.messages import InboundMessage

log = logging.getLogger(__name__)

LOOKUP_SECONDS = 2.0
"""How long a question about an event may take, of the three seconds that its answer has."""

_RAW_LIMIT = 100_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What the platform gets for an event.

    Args:
        code: 200, or 500 to have it delivered again.
        data: For a callback, what it is to show.
    """

    code: int
    data: dict[str, object] | None = None


TAKEN = Answer(200)
AGAIN = Answer(500)
SHOWN = Answer(200, {})
"""For a callback: the card stays as it is, and nothing pops up."""


class Hearer:
    """Puts what is heard into the inbox.

    Args:
        client: The open platform.
        account: Name of the account, for keys, addresses and the log.
        app_id: The app.
        own: Knows which messages are ours.
        kinds: Knows which chats are direct.
        inbox: Where to.
        all_is_us: Whether a mention of everyone addresses us.
    """

    def __init__(
        self,
        client: OpenApi,
        account: str,
        app_id: str,
        own: OwnMessages,
        kinds: ChatKinds,
        inbox: Inbox,
        *,
        all_is_us: bool,
    ) -> None:
        self._client = client
        self._account = account
        self._app_id = app_id
        self._own = own
        self._kinds = kinds
        self._inbox = inbox
        self._all_is_us = all_is_us
        self._bot: BotIdentity | None = None

    async def prepare(self) -> None:
        """Find out who we are, which is needed to tell mentions of us.

        Raises:
            ApiError: The platform did not say.
        """
        self._bot = self._bot or await identify(self._client, self._app_id)

    async def hear(self, payload: bytes) -> Answer:
        """Store what an event says, and tell how to answer it."""
        assert self._bot is not None, "prepared before anything is heard"
        try:
            async with asyncio.timeout(LOOKUP_SECONDS) as patience:
                return await self._hear(payload, self._bot, patience)
        except TimeoutError:
            log.warning("feishu/%s: no word on a message in time", self._account)
        except InboxUnavailableError as error:
            log.warning("feishu/%s: cannot store what came: %s", self._account, error)
        except ApiError as fault:
            log.warning("feishu/%s: cannot learn about a message: %s", self._account, fault)
        except Exception:
            log.exception("feishu/%s: an event was not understood", self._account)
        return AGAIN

    async def _hear(self, payload: bytes, bot: BotIdentity, patience: asyncio.Timeout) -> Answer:
        raw: object = None
        try:
            raw = parse(payload)
            reading = normalize(raw, self._account, bot, all_is_us=self._all_is_us)
        except MalformedEventError as fault:
            patience.reschedule(None)
            await self._reject(raw, payload, str(fault))
            return TAKEN
        match reading:
            case Heard():
                message = await self._complete(reading)
                # Storing may take longer than asking: it is the one thing that must not be cut short.
                patience.reschedule(None)
                await self._inbox.accept(message)
            case Pressed(message):
                kind = await self._kinds.of(message.address.chat_id)
                patience.reschedule(None)
                await self._inbox.accept(replace(message, chat_kind=kind))
                return SHOWN
            case ignored:
                log.debug("feishu/%s: ignored %s", self._account, ignored.reason)
        return SHOWN if is_callback(payload) else TAKEN

    async def _complete(self, heard: Heard) -> InboundMessage:
        """The message with what only the platform can tell.

        Raises:
            ApiError: It did not tell.
        """
        message = heard.message
        self._kinds.remember(message.address.chat_id, message.chat_kind)
        if heard.answers and await self._own.any_ours(heard.answers):
            message = replace(message, addressed=True)
        if heard.forwarded:
            message = with_text(message, await forwarded_text(self._client, message.message_id))
        return message

    async def _reject(self, raw: object, payload: bytes, reason: str) -> None:
        log.warning("feishu/%s: set aside an event: %s", self._account, reason)
        key = f"{CHANNEL}:{self._account}:event:{_event_name(raw, payload)}"
        text = payload[:_RAW_LIMIT].decode("utf-8", "replace").replace("\x00", "\ufffd")
        await self._inbox.reject(origin(raw, self._account), key, text, reason)


def is_callback(payload: bytes) -> bool:
    """Whether somebody waits for what an event is answered: people see a card fail after three seconds."""
    if CARD_EVENT.encode() not in payload:
        return False
    try:
        raw = parse(payload)
    except MalformedEventError:
        return False
    match raw:
        case {"header": {"event_type": str(kind)}}:
            return kind == CARD_EVENT
    return False


async def identify(client: OpenApi, app_id: str) -> BotIdentity:
    """Ask who we are.

    Raises:
        ApiError: No usable answer.
    """
    match await client.call(ApiCall("GET", "/open-apis/bot/v3/info")):
        case {"bot": {"open_id": str(open_id)}} if open_id:
            return BotIdentity(open_id, app_id)
    raise GarbledError("the platform named no bot")


def _event_name(raw: object, payload: bytes) -> str:
    """The event's id; without one its content has to serve."""
    match raw:
        case {"header": {"event_id": str(event_id)}} if event_id.isascii() and 0 < len(event_id) <= 100:
            return json.dumps(event_id)[1:-1]
    return hashlib.sha256(payload).hexdigest()
