"""One Slack app in one workspace as a channel."""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from starlette.routing import Route

from channels.backoff import Pause
from channels.budgets import SLACK
from channels.channel import Inbox
from channels.errors import PermanentSendError, TransientSendError
from channels.messages import Address, Attachment, OutboundMessage, Receipt
from channels.pacing import Limit, NoSlotError, Pacer, Urgency
from channels.slack import files, render, send
from channels.slack.api import ApiError, RefusedError, SlackApi, Token
from channels.slack.intake import Intake
from channels.slack.normalize import CHANNEL
from channels.slack.people import People, Thread
from channels.slack.reactions import Reactions
from channels.slack.transport import (
    Backoff,
    Connection,
    Listener,
    identify,
    identify_in_the_end,
    open_connection,
    refused_token,
)
from channels.views import Phase, RunView

log = logging.getLogger(__name__)

DEFAULT_BASE_URL = "https://slack.com/api/"
DEFAULT_PING_SECONDS = 10.0
DEFAULT_QUIET_SECONDS = 3600.0
DEFAULT_RESPONSE_SECONDS = 15.0

_PATIENCE_SECONDS = 5.0
"""How long a message waits here for its turn; one that must wait longer goes back to the outbox."""

_JITTER = random.SystemRandom()


class SlackChannel:
    """A Slack app that hears through Socket Mode, or through HTTP events.

    With an app-level token it opens a socket. Without one it needs the signing secret, and hears what
    is sent to :meth:`routes` while :meth:`receive` runs.

    Args:
        account: Which of our accounts this is.
        bot_token: ``xoxb-...``. Like all secrets here it is in no log line, error or ``repr``.
        app_token: ``xapp-...``, for Socket Mode.
        signing_secret: For HTTP events.
        base_url: Where the Web API is, with a slash at its end: Slack's own, a proxy, or an emulator.
        response_seconds: How long an answer may take.
        ping_seconds: How often the other side of a socket is asked for a sign of life; four misses end it.
        quiet_seconds: After how long without an event a socket is replaced.
        limits: How often Slack may be called.
        pause: Waits between tries.
        monotonic: Seconds that only grow.
        now: Seconds since the epoch, for the age of HTTP requests.
        chance: Numbers between 0 and 1, for jitter.
    """

    name = CHANNEL
    exclusive = False
    idempotent_for = None

    def __init__(
        self,
        account: str,
        bot_token: str,
        *,
        app_token: str | None = None,
        signing_secret: str | None = None,
        base_url: str = DEFAULT_BASE_URL,
        response_seconds: float = DEFAULT_RESPONSE_SECONDS,
        ping_seconds: float = DEFAULT_PING_SECONDS,
        quiet_seconds: float = DEFAULT_QUIET_SECONDS,
        limits: Sequence[Limit] = SLACK,
        pause: Pause = asyncio.sleep,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        chance: Callable[[], float] = _JITTER.random,
    ) -> None:
        # Imported here because the SDK takes a second to load.
        from channels.slack.client import SlackClient
        from channels.slack.http import EventsEndpoint

        if app_token is None and not signing_secret:
            raise ValueError("either an app-level token or a signing secret is needed")
        tokens = {Token.BOT: bot_token} | ({Token.APP: app_token} if app_token is not None else {})
        self.account = account
        self._client: SlackApi = SlackClient(tokens, base_url, response_seconds)
        self._by_socket = app_token is not None
        self._endpoint = (
            EventsEndpoint(account, signing_secret, now, monotonic)
            if signing_secret and not self._by_socket
            else None
        )
        self._base_url = base_url
        self._ping_seconds = ping_seconds
        self._quiet_seconds = quiet_seconds
        self._pause = pause
        self._monotonic = monotonic
        self._chance = chance
        self._people = People(self._client, account, monotonic)
        self._pacer = Pacer(limits, monotonic=monotonic, sleep=pause)
        self._reactions = Reactions(self._client, account, self._pacer, monotonic)

    async def check(self) -> None:
        """Ask Slack whether it knows the tokens; see :class:`~channels.channel.Channel`."""
        token = Token.BOT
        try:
            await identify(self._client)
            if self._by_socket:
                token = Token.APP
                await open_connection(self._client)
        except ApiError as fault:
            lasting = isinstance(fault, RefusedError) and (
                fault.bad_token or (token is Token.APP and fault.error == "missing_scope")
            )
            if lasting:
                raise refused_token(self.account, token) from None
            log.warning("slack/%s: cannot check the tokens now: %s", self.account, fault)

    async def receive(self, inbox: Inbox) -> None:
        """Hand all messages to the inbox until cancelled; see :class:`~channels.channel.Channel`."""
        from channels.slack.bolt import bolt_app
        from channels.slack.http import Hearing
        from channels.slack.socket import Socket

        backoff = Backoff(self.account, self._pause, self._chance)
        bot = await identify_in_the_end(self._client, self.account, backoff)
        backoff.reset()
        intake = Intake(inbox, self.account, bot, self._people)
        app = bolt_app(intake, self._base_url)

        def connection(url: str, heard: Callable[[], None]) -> Connection:
            return Socket(app, intake, url, self._ping_seconds, heard)

        listener = Listener(
            self._client, self.account, connection, backoff, self._quiet_seconds, self._monotonic
        )
        try:
            if self._endpoint is None:
                await listener.run()
            else:
                log.info("slack/%s: listening at %s", self.account, self._endpoint.path)
                await self._endpoint.hear(Hearing(app, intake))
        finally:
            await intake.finish()

    def routes(self) -> list[Route]:
        """What to mount for HTTP events: ``POST /slack/<account>/events``. None in Socket Mode."""
        return [self._endpoint.route()] if self._endpoint is not None else []

    def split(self, text: str) -> list[str]:
        """Cut text into pieces for one message each."""
        return render.split(text)

    async def send(self, message: OutboundMessage) -> Receipt:
        """Post one message; see :class:`~channels.channel.Channel`."""
        method = send.posting_method(message)
        try:
            await self._pacer.slot(message.address.chat_id, method, patience=_PATIENCE_SECONDS)
        except NoSlotError as full:
            raise TransientSendError(f"Slack's limits: {full}", full.wait) from None
        # After a rate limit it is the outbox that holds the chat up, on all nodes and over restarts.
        receipt = await send.post(self._client, message)
        root = message.address.platform_thread
        if root is None and render.is_timestamp(receipt.message_id):
            root = receipt.message_id
        if root is not None:
            self._people.wrote_in(Thread(message.address.chat_id, root))
        return receipt

    async def fetch(self, attachment: Attachment, target: Path, max_bytes: int) -> None:
        """Write an attachment to ``target``; see :class:`~channels.channel.Channel`."""
        await files.fetch(self._client, attachment, target, max_bytes, self._pause)

    async def show(self, address: Address, view: RunView) -> None:
        """Mark the message that is being answered with a reaction, and take that away at the end."""
        if view.in_reply_to is None:
            return
        if view.phase is Phase.DONE:
            await self._reactions.end(address, view.in_reply_to)
        else:
            await self._reactions.begin(address, view.in_reply_to)

    async def close_buttons(self, message_id: str, message: OutboundMessage, chosen: str) -> None:
        """Show what was chosen in the place of the buttons; see :class:`~channels.channel.Channel`."""
        try:
            await self._pacer.slot(
                message.address.chat_id, "chat.update", Urgency.PROGRESS, patience=_PATIENCE_SECONDS
            )
            await send.close_buttons(self._client, message_id, message, chosen)
        except (ApiError, PermanentSendError, NoSlotError) as fault:
            log.debug("slack/%s: buttons stay: %s", self.account, fault)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()
