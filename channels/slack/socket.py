"""One Socket Mode connection: opened once, listened on, closed for good.

The SDK's client can reconnect by itself, but then goes on for ever with a refused token, closes the old
connection before it has a new one, and leaves tasks behind when it is closed. Here each connection has
a client of its own, and :mod:`channels.slack.transport` decides when there is another.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import aiohttp
from aiohttp import ClientHandlerType, ClientRequest, ClientResponse, ClientSession
from slack_bolt.adapter.socket_mode.async_base_handler import AsyncBaseSocketModeHandler
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.response import BoltResponse
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from channels.slack.api import NotSentError
from channels.slack.bolt import set_aside
from channels.slack.client import SDK_LOG, is_loopback
from channels.slack.intake import Intake

log = logging.getLogger(__name__)

CLOSED = "closed"
SILENT = "silent"
TOO_MANY = "too_many_websockets"

_CLOSE_SECONDS = 2.0


class Socket(AsyncBaseSocketModeHandler):
    """A connection and what it carries.

    Args:
        app: Handles envelopes.
        intake: Where what breaks the app is recorded.
        url: As ``apps.connections.open`` gave it; good for one connection.
        ping_seconds: How often the other side is asked for a sign of life.
        heard: Called when an envelope has come.
    """

    app: AsyncApp

    def __init__(
        self, app: AsyncApp, intake: Intake, url: str, ping_seconds: float, heard: Callable[[], None]
    ) -> None:
        self.app = app
        self._intake = intake
        self._url = url
        self._ping_seconds = ping_seconds
        self.client: _Client = _Client(url, ping_seconds, heard)

    async def open(self, seconds: float) -> None:
        """Connect.

        Raises:
            NotSentError: It could not be done in time.
        """
        client = self.client
        await client.use_own_session(trust_env=not is_loopback(self._url))
        client.socket_mode_request_listeners.append(self.handle)
        connecting = asyncio.create_task(client.connect())
        try:
            # The SDK's own loop would try the same address for ever.
            either: set[asyncio.Future[Any]] = {connecting, client.failed}
            done, _ = await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not connecting.done():
                connecting.cancel()
                await asyncio.gather(connecting, return_exceptions=True)
        if connecting not in done:
            why = client.failed.result() if client.failed.done() else "it takes too long"
            raise NotSentError(f"no connection for Socket Mode: {why}")

    async def handle(self, client: Any, req: SocketModeRequest) -> None:
        """Have an envelope handled, and acknowledge it if the app says so."""
        started = time.time()
        try:
            response = await run_async_bolt_app(self.app, req)
        except Exception as error:  # noqa: BLE001 - the border of a task; recorded and logged there
            response = BoltResponse(status=await set_aside(error, req.payload, self._intake))
        try:
            await send_async_response(client, req, response, started)
        except (ConnectionError, aiohttp.ClientError) as error:
            log.info("slack: an acknowledgement was too late, it will come again (%s)", type(error).__name__)

    async def ended(self) -> str:
        """Wait until this connection is of no use any more, and say why."""
        client = self.client
        while not client.told.done():
            session = client.current_session
            if session is None or session.closed:
                return CLOSED
            if await client.is_ping_pong_failing():
                return SILENT
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(client.told), min(1.0, self._ping_seconds))
        return client.told.result()

    async def close(self, patience: float = 0.0) -> None:
        """Close it, and end all that belongs to it.

        Args:
            patience: How many seconds envelopes that are being handled may still take.
        """
        if patience and self.client.handling:
            await asyncio.wait(self.client.handling, timeout=patience)
        await self.client.shut()


class _Client(SocketModeClient):
    """The SDK's client without its reconnecting, and with an account of its tasks."""

    def __init__(self, url: str, ping_seconds: float, heard: Callable[[], None]) -> None:
        super().__init__(
            app_token="",
            logger=SDK_LOG,
            auto_reconnect_enabled=False,
            ping_interval=ping_seconds,
        )
        self.wss_uri = url
        self.proxy = None
        self.told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.failed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.handling: set[asyncio.Task[Any]] = set()
        self._on_heard = heard

    async def connect(self) -> None:
        """Connect, trying again and again."""
        await SocketModeClient.connect(self)

    async def use_own_session(self, *, trust_env: bool) -> None:
        """Proxies of the environment are asked for all addresses but those on this machine."""
        await self.aiohttp_client_session.close()
        self.aiohttp_client_session = ClientSession(trust_env=trust_env, middlewares=(self._watch,))

    async def _watch(self, request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        """Learn why connecting fails, which the SDK keeps to its log."""
        try:
            response = await handler(request)
        except (aiohttp.ClientError, OSError) as error:
            self._fail(type(error).__name__)
            raise
        if response.status != 101:
            self._fail(f"HTTP status {response.status}")
        return response

    def _fail(self, why: str) -> None:
        if not self.failed.done():
            self.failed.set_result(why)

    async def run_message_listeners(self, message: dict[str, Any], raw_message: str) -> None:
        """Handle one frame, in a task that the SDK has made for it."""
        task = asyncio.current_task()
        assert task is not None, "the SDK makes a task for each frame"
        self.handling.add(task)
        task.add_done_callback(self.handling.discard)
        if message.get("type") == "disconnect":
            if not self.told.done():
                self.told.set_result(str(message.get("reason", "disconnect"))[:60])
            return
        if "envelope_id" in message:
            self._on_heard()
        await super().run_message_listeners(message, raw_message)

    async def shut(self) -> None:
        """Close the connection and end every task of this client."""
        self.closed = True
        own = (self.message_processor, self.current_session_monitor, self.message_receiver)
        tasks = {task for task in (*own, *self.handling) if task is not None}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        try:
            if self.current_session is not None:
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await self.current_session.close()
        except TimeoutError:
            log.debug("slack: the other side did not take leave")
        finally:
            await self.aiohttp_client_session.close()
