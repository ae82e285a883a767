"""Hearing: keeps one connection open, and has the next before it lets go of the last."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Protocol

from channels.backoff import Pause, backoff_seconds
from channels.errors import ChannelRefusedError
from channels.slack.api import (
    ApiCall,
    ApiError,
    Encoding,
    GarbledError,
    RefusedError,
    SlackApi,
    Token,
)
from channels.slack.normalize import BotIdentity

log = logging.getLogger(__name__)

LONGEST_PAUSE = 30.0
_LONGEST_OBEYED_PAUSE = 300.0
_OPEN_SECONDS = 15.0
_HANDING_OVER_SECONDS = 3.0
_LASTING_SECONDS = 10.0
_UNFIT_FOR_HANDING_OVER = frozenset({"closed", "silent", "too_many_websockets"})


class Connection(Protocol):
    """One Socket Mode connection; see :class:`channels.slack.socket.Socket`."""

    async def open(self, seconds: float) -> None:
        """Connect, or raise ``NotSentError``."""

    async def ended(self) -> str:
        """Wait until it is of no use any more, and say why."""

    async def close(self, patience: float = 0.0) -> None:
        """Close it."""


class Backoff:
    """Waits longer after each failure in a row.

    Args:
        account: Name of the account, for the log.
        pause: Waits between tries.
        chance: Gives numbers between 0 and 1.
    """

    def __init__(self, account: str, pause: Pause, chance: Callable[[], float]) -> None:
        self._account = account
        self._pause = pause
        self._chance = chance
        self._failures = 0

    def reset(self) -> None:
        """It works again."""
        self._failures = 0

    async def wait(self, why: object, asked: float | None = None) -> None:
        """Count a failure and wait.

        Args:
            why: What failed, for the log.
            asked: Seconds that Slack asked for.
        """
        self._failures += 1
        log.warning("slack/%s: not listening (%d in a row): %s", self._account, self._failures, why)
        own = backoff_seconds(self._failures, self._chance(), longest=LONGEST_PAUSE)
        await self._pause(max(own, min(asked or 0.0, _LONGEST_OBEYED_PAUSE)))


class Listener:
    """Keeps a connection open.

    Args:
        client: The Web API.
        account: Name of the account, for the log.
        connection: Makes a connection of an address; is given what to call when an envelope comes.
        backoff: Waits between tries.
        quiet_seconds: After how long without an envelope the connection is replaced: some fall silent
            although they still answer pings.
        monotonic: Seconds that only grow.
    """

    def __init__(
        self,
        client: SlackApi,
        account: str,
        connection: Callable[[str, Callable[[], None]], Connection],
        backoff: Backoff,
        quiet_seconds: float,
        monotonic: Callable[[], float],
    ) -> None:
        self._client = client
        self._account = account
        self._connection = connection
        self._backoff = backoff
        self._quiet_seconds = quiet_seconds
        self._monotonic = monotonic
        self._last_heard = monotonic()

    async def run(self) -> None:
        """Listen until cancelled.

        Raises:
            ChannelRefusedError: Slack does not know the app-level token (any more).
        """
        current: Connection | None = None
        try:
            while True:
                following = await self._open()
                if current is not None:
                    await current.close(_HANDING_OVER_SECONDS)
                current = following
                opened = self._monotonic()
                reason = await self._until_ended(current)
                log.info("slack/%s: connection ended: %s", self._account, reason)
                if reason in _UNFIT_FOR_HANDING_OVER:
                    await current.close()
                    current = None
                if self._last_heard >= opened or self._monotonic() - opened >= _LASTING_SECONDS:
                    self._backoff.reset()
                else:
                    await self._backoff.wait(f"a connection ended at once ({reason})")
        finally:
            if current is not None:
                await current.close()

    async def _open(self) -> Connection:
        while True:
            try:
                url = await open_connection(self._client)
                connection = self._connection(url, self._on_heard)
                try:
                    await connection.open(_OPEN_SECONDS)
                except BaseException:
                    await connection.close()
                    raise
            except ApiError as fault:
                if isinstance(fault, RefusedError) and fault.bad_token:
                    raise refused_token(self._account, Token.APP) from None
                asked = fault.retry_after if isinstance(fault, RefusedError) else None
                await self._backoff.wait(fault, asked)
                continue
            log.info("slack/%s: listening", self._account)
            return connection

    async def _until_ended(self, connection: Connection) -> str:
        ended = asyncio.create_task(connection.ended())
        try:
            quiet_since = self._monotonic()
            while True:
                quiet_since = max(quiet_since, self._last_heard)
                left = quiet_since + self._quiet_seconds - self._monotonic()
                if left <= 0:
                    return "no event for a long time"
                done, _ = await asyncio.wait({ended}, timeout=min(left, 1.0))
                if done:
                    return ended.result()
        finally:
            ended.cancel()
            await asyncio.gather(ended, return_exceptions=True)

    def _on_heard(self) -> None:
        self._last_heard = self._monotonic()


async def identify(client: SlackApi) -> BotIdentity:
    """Ask who we are.

    Raises:
        ApiError: No usable answer.
    """
    match await client.call(ApiCall("auth.test", {})):
        case {"user_id": str(user_id), "bot_id": str(bot_id), "team_id": str(team_id)}:
            return BotIdentity(user_id, bot_id, team_id)
    raise RefusedError(200, "not_allowed_token_type")


async def identify_in_the_end(client: SlackApi, account: str, backoff: Backoff) -> BotIdentity:
    """Ask who we are until there is an answer.

    Raises:
        ChannelRefusedError: Slack does not know the bot token.
    """
    while True:
        try:
            return await identify(client)
        except ApiError as fault:
            if isinstance(fault, RefusedError) and fault.bad_token:
                raise refused_token(account, Token.BOT) from None
            await backoff.wait(fault, fault.retry_after if isinstance(fault, RefusedError) else None)


async def open_connection(client: SlackApi) -> str:
    """Ask for the address of a Socket Mode connection.

    Raises:
        ApiError: No usable answer.
    """
    answer: dict[str, Any] = await client.call(ApiCall("apps.connections.open", {}, Encoding.FORM, Token.APP))
    match answer:
        case {"url": str(url)} if url.startswith(("ws://", "wss://")):
            return url
    raise GarbledError("apps.connections.open gave no address")


def refused_token(account: str, token: Token) -> ChannelRefusedError:
    """What to say when Slack does not know a token."""
    place = {
        Token.BOT: 'bot_token: put the "Bot User OAuth Token" (xoxb-...) of the app\'s page '
        '"OAuth & Permissions" there',
        Token.APP: 'app_token: put an "App-Level Token" (xapp-...) with the scope connections:write from '
        'the app\'s page "Basic Information" there',
    }[token]
    return ChannelRefusedError(f"Slack does not accept the setting of account {account!r} named {place}")
