"""One Telegram bot as a channel."""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from channels.backoff import Pause
from channels.budgets import TELEGRAM, TELEGRAM_TYPING
from channels.channel import Inbox
from channels.errors import PermanentSendError, TransientSendError
from channels.messages import Address, Attachment, OutboundMessage, Receipt
from channels.pacing import Limit, NoSlotError, Pacer, Urgency
from channels.telegram import files, send
from channels.telegram.api import ApiCall, ApiError, BotApi, RefusedError
from channels.telegram.normalize import CHANNEL
from channels.telegram.render import chat_params, remove_keyboard, render, split, unformatted
from channels.telegram.transport import Poller, identify, refused_token
from channels.views import Phase, RunView

log = logging.getLogger(__name__)

DEFAULT_BASE_URL = "https://api.telegram.org"
DEFAULT_POLL_SECONDS = 25
DEFAULT_RESPONSE_SECONDS = 15.0

_TYPING = "sendChatAction"
_JITTER = random.SystemRandom()
_PATIENCE_SECONDS = 5.0
"""How long a message waits here for its turn; one that must wait longer goes back to the outbox."""


class TelegramChannel:
    """A Telegram bot that hears by long polling.

    Args:
        account: Which of our accounts this is.
        token: The bot's token. It is in no log line, error or ``repr``.
        base_url: Where the Bot API is: Telegram's own, a self-hosted server, or an emulator.
        poll_seconds: How long one poll waits for something to happen.
        response_seconds: How long an answer may take, beyond that.
        limits: How often Telegram may be called.
        pause: Waits between tries.
        monotonic: Seconds that only grow.
        chance: Numbers between 0 and 1, for jitter.
    """

    name = CHANNEL
    exclusive = True
    idempotent_for = None

    def __init__(
        self,
        account: str,
        token: str,
        *,
        base_url: str = DEFAULT_BASE_URL,
        poll_seconds: int = DEFAULT_POLL_SECONDS,
        response_seconds: float = DEFAULT_RESPONSE_SECONDS,
        limits: Sequence[Limit] = TELEGRAM,
        pause: Pause = asyncio.sleep,
        monotonic: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = _JITTER.random,
    ) -> None:
        # Imported here because the SDK takes half a second to load.
        from channels.telegram.client import TelegramClient

        self.account = account
        self._client: BotApi = TelegramClient(token, base_url, response_seconds)
        self._poller = Poller(self._client, account, poll_seconds, pause, chance)
        self._pause = pause
        self._pacer = Pacer((*limits, TELEGRAM_TYPING), monotonic=monotonic, sleep=pause)

    async def check(self) -> None:
        """Ask Telegram whether it knows the token; see :class:`~channels.channel.Channel`."""
        try:
            await identify(self._client)
        except ApiError as fault:
            if isinstance(fault, RefusedError) and fault.bad_token:
                raise refused_token(self.account) from None
            log.warning("telegram/%s: cannot check the token now: %s", self.account, fault)

    async def receive(self, inbox: Inbox) -> None:
        """Hand all messages to the inbox until cancelled; see :class:`~channels.channel.Channel`."""
        await self._poller.run(inbox)

    def split(self, text: str) -> list[str]:
        """Cut text into pieces for one message each."""
        return split(text)

    async def send(self, message: OutboundMessage) -> Receipt:
        """Post one message; see :class:`~channels.channel.Channel`."""
        call, plain = render(message), render(message, unformatted)
        try:
            await self._pacer.slot(message.address.chat_id, call.method, patience=_PATIENCE_SECONDS)
        except NoSlotError as full:
            raise TransientSendError(f"Telegram's limits: {full}", full.wait) from None
        # After flood control it is the outbox that holds the chat up, on all nodes and over restarts.
        return await send.post(self._client, call, plain if "entities" in call.params else None)

    async def fetch(self, attachment: Attachment, target: Path, max_bytes: int) -> None:
        """Write an attachment to ``target``; see :class:`~channels.channel.Channel`."""
        await files.fetch(self._client, attachment, target, max_bytes, self._pause)

    async def show(self, address: Address, view: RunView) -> None:
        """Show "typing" while a run goes on, at most every four seconds in a chat."""
        place = f"{address.chat_id}/{address.platform_thread or ''}"
        if view.phase is Phase.DONE or not self._pacer.try_slot(place, _TYPING, Urgency.PROGRESS):
            return
        try:
            await self._client.call(ApiCall(_TYPING, {**chat_params(address), "action": "typing"}))
        except RefusedError as refused:
            self._pacer.pause(refused.retry_after or 0, chat=place, method=_TYPING)
        except (ApiError, PermanentSendError) as fault:
            log.debug("telegram/%s: typing not shown: %s", self.account, fault)

    async def close_buttons(self, message_id: str, message: OutboundMessage, chosen: str) -> None:
        """Take the buttons off a message; see :class:`~channels.channel.Channel`."""
        try:
            call = remove_keyboard(message.address, message_id)
            await self._pacer.slot(
                message.address.chat_id, call.method, Urgency.PROGRESS, patience=_PATIENCE_SECONDS
            )
            await self._client.call(call)
        except (ApiError, PermanentSendError, NoSlotError) as fault:
            log.debug("telegram/%s: buttons stay: %s", self.account, fault)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()
