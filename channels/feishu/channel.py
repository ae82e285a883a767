"""One Feishu or Lark app as a channel."""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

from channels.backoff import Pause
from channels.budgets import FEISHU
from channels.channel import Inbox
from channels.errors import ChannelRefusedError, PermanentSendError, TransientSendError
from channels.feishu import files, send
from channels.feishu.api import ApiError, OpenApi, RefusedError
from channels.feishu.hearing import Hearer, identify
from channels.feishu.lookup import ChatKinds, OwnMessages
from channels.feishu.normalize import CHANNEL
from channels.feishu.reactions import Reactions
from channels.feishu.render import close_buttons, marked, split
from channels.feishu.transport import Listener, Timing
from channels.messages import Address, Attachment, OutboundMessage, OutboundText, Receipt
from channels.pacing import Limit, NoSlotError, Pacer, Urgency
from channels.views import RunView

log = logging.getLogger(__name__)

FEISHU_URL = "https://open.feishu.cn"
LARK_URL = "https://open.larksuite.com"
DEFAULT_RESPONSE_SECONDS = 15.0

CHECK_SECONDS = 5.0
"""How long the check may take; until then the app is not listened to."""

KEY_GOOD_FOR = timedelta(minutes=55)
"""How long the platform knows a send again by its key: an hour (``uuid`` of "send messages"), less some
minutes for clocks that differ and requests that are under way."""

_PATIENCE_SECONDS = 5.0
"""How long a message waits here for its turn; one that must wait longer goes back to the outbox."""

_JITTER = random.SystemRandom()
_DEFAULT_TIMING = Timing()


class FeishuChannel:
    """An app that hears by a long connection.

    Several nodes may listen for one app: the platform hands each event to one of them, and knows
    sends apart by their key for an hour.

    Args:
        account: Which of our accounts this is.
        app_id: The app.
        app_secret: Its secret. It is in no log line, error or ``repr``.
        base_url: Where the open platform is: Feishu's, Lark's, or an emulator.
        all_is_us: Whether a mention of everyone addresses us.
        response_seconds: How long an answer may take.
        limits: How often the platform may be called.
        timing: How the long connection is watched.
        pause: Waits between tries.
        monotonic: Seconds that only grow.
        chance: Numbers between 0 and 1, for jitter.
    """

    name = CHANNEL
    exclusive = False
    idempotent_for = KEY_GOOD_FOR

    def __init__(
        self,
        account: str,
        app_id: str,
        app_secret: str,
        *,
        base_url: str = FEISHU_URL,
        all_is_us: bool = False,
        response_seconds: float = DEFAULT_RESPONSE_SECONDS,
        limits: Sequence[Limit] = FEISHU,
        timing: Timing = _DEFAULT_TIMING,
        pause: Pause = asyncio.sleep,
        monotonic: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = _JITTER.random,
    ) -> None:
        # Imported here because the HTTP client takes a third of a second to load.
        from channels.feishu.client import FeishuClient

        self.account = account
        self._app_id = app_id
        self._client: OpenApi = FeishuClient(app_id, app_secret, base_url, response_seconds, monotonic)
        self._all_is_us = all_is_us
        self._timing = timing
        self._pause = pause
        self._monotonic = monotonic
        self._chance = chance
        self._own = OwnMessages(self._client, app_id)
        self._kinds = ChatKinds(self._client)
        self._pacer = Pacer(limits, monotonic=monotonic, sleep=pause)
        self._reactions = Reactions(self._client, account, self._pacer, monotonic)

    async def check(self) -> None:
        """Ask whether the app's id and secret are good; see :class:`~channels.channel.Channel`."""
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                await self._client.check_credentials()
                await identify(self._client, self._app_id)
        except TimeoutError:
            log.warning("feishu/%s: cannot check the app now: no answer", self.account)
        except ApiError as fault:
            if isinstance(fault, RefusedError) and fault.bad_credentials:
                raise ChannelRefusedError(
                    f"Feishu does not accept the app id and secret of account {self.account!r}: put those of "
                    '"Credentials & Basic Info" into its app_id and app_secret settings, and check its domain'
                ) from None
            log.warning("feishu/%s: cannot check the app now: %s", self.account, fault)

    async def receive(self, inbox: Inbox) -> None:
        """Hand all messages to the inbox until cancelled; see :class:`~channels.channel.Channel`.

        Refused credentials do not end it: an app may be disabled for a while, or at the limit of its
        connections.
        """
        hearer = Hearer(
            self._client,
            self.account,
            self._app_id,
            self._own,
            self._kinds,
            inbox,
            all_is_us=self._all_is_us,
        )
        listener = Listener(
            self._client, self.account, hearer, self._timing, self._pause, self._monotonic, self._chance
        )
        await listener.run()

    def split(self, text: str) -> list[str]:
        """Cut text into pieces for one message each."""
        return split(text)

    async def send(self, message: OutboundMessage) -> Receipt:
        """Post one message; see :class:`~channels.channel.Channel`."""
        try:
            await self._pacer.slot(message.address.chat_id, "send", patience=_PATIENCE_SECONDS)
        except NoSlotError as full:
            raise TransientSendError(f"Feishu's limits: {full}", full.wait) from None
        receipt = await send.post(self._client, message)
        self._own.remember(receipt.message_id)
        return receipt

    async def fetch(self, attachment: Attachment, target: Path, max_bytes: int) -> None:
        """Write an attachment to ``target``; see :class:`~channels.channel.Channel`."""
        await files.fetch(self._client, attachment, target, max_bytes, self._pause)

    async def show(self, address: Address, view: RunView) -> None:
        """Show a reaction on the question while a run goes on."""
        await self._reactions.show(address, view)

    async def close_buttons(self, message_id: str, message: OutboundMessage, chosen: str) -> None:
        """Show what was chosen in the place of the buttons; see :class:`~channels.channel.Channel`."""
        assert isinstance(message.content, OutboundText), "files have no buttons"
        try:
            call = close_buttons(message_id, marked(message.content.text, message.possible_repeat), chosen)
            await self._pacer.slot(
                message.address.chat_id, "edit", Urgency.PROGRESS, patience=_PATIENCE_SECONDS
            )
            await self._client.call(call)
        except (ApiError, PermanentSendError, NoSlotError) as fault:
            log.debug("feishu/%s: buttons stay: %s", self.account, fault)

    async def close(self) -> None:
        """Close all connections."""
        await self._reactions.close()
        await self._client.close()
