"""One Telegram bot as a channel."""

import asyncio
import logging
import random
import time
from collections.abc import Callable
from pathlib import Path

from channels.channel import Inbox
from channels.errors import PermanentSendError
from channels.messages import Address, Attachment, OutboundMessage, Receipt
from channels.telegram import files, send
from channels.telegram.api import ApiCall, ApiError, BotApi, RefusedError
from channels.telegram.normalize import CHANNEL
from channels.telegram.render import chat_params, render, split, unformatted
from channels.telegram.transport import Pause, Poller, identify, refused_token
from channels.views import Phase, RunView

log = logging.getLogger(__name__)

DEFAULT_BASE_URL = "https://api.telegram.org"
DEFAULT_POLL_SECONDS = 25
DEFAULT_RESPONSE_SECONDS = 15.0

_JITTER = random.SystemRandom()
_TYPING_SECONDS = 4.0  # Telegram shows "typing" for 5 s (Bot API sendChatAction)
_MOST_REMEMBERED_CHATS = 1000


class TelegramChannel:
    """A Telegram bot that hears by long polling.

    Args:
        account: Which of our accounts this is.
        token: The bot's token. It is in no log line, error or ``repr``.
        base_url: Where the Bot API is: Telegram's own, a self-hosted server, or an emulator.
        poll_seconds: How long one poll waits for something to happen.
        response_seconds: How long an answer may take, beyond that.
        pause: Waits between tries.
        monotonic: Seconds that only grow.
        chance: Numbers between 0 and 1, for jitter.
    """

    name = CHANNEL
    exclusive = True
    idempotent = False

    def __init__(
        self,
        account: str,
        token: str,
        *,
        base_url: str = DEFAULT_BASE_URL,
        poll_seconds: int = DEFAULT_POLL_SECONDS,
        response_seconds: float = DEFAULT_RESPONSE_SECONDS,
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
        self._monotonic = monotonic
        self._quiet_until: dict[Address, float] = {}

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
        return await send.post(self._client, call, plain if "entities" in call.params else None)

    async def fetch(self, attachment: Attachment, target: Path, max_bytes: int) -> None:
        """Write an attachment to ``target``; see :class:`~channels.channel.Channel`."""
        await files.fetch(self._client, attachment, target, max_bytes, self._pause)

    async def show(self, address: Address, view: RunView) -> None:
        """Show "typing" while a run goes on, at most every four seconds in a chat."""
        now = self._monotonic()
        if view.phase is Phase.DONE or now < self._quiet_until.get(address, now):
            return
        self._hush(address, now, _TYPING_SECONDS)
        try:
            await self._client.call(ApiCall("sendChatAction", {**chat_params(address), "action": "typing"}))
        except RefusedError as refused:
            self._hush(address, now, max(_TYPING_SECONDS, refused.retry_after or 0))
        except (ApiError, PermanentSendError) as fault:
            log.debug("telegram/%s: typing not shown: %s", self.account, fault)

    def _hush(self, address: Address, now: float, seconds: float) -> None:
        if len(self._quiet_until) >= _MOST_REMEMBERED_CHATS:
            self._quiet_until = {key: until for key, until in self._quiet_until.items() if until > now}
        self._quiet_until[address] = now + seconds

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()
