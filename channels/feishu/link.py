"""A long connection as a plain stream of messages."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import aiohttp
from aiohttp import WSMsgType

from channels.feishu.api import BrokenError

_SEND_SECONDS = 10.0


class WebSocketLink:
    """An open WebSocket.

    Args:
        socket: The WebSocket, which must leave pings and pongs to us.
    """

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket

    async def receive(self) -> bytes | None:
        """The next message; see :class:`~channels.feishu.api.Link`."""
        message = await self._socket.receive()
        match message.type:
            case WSMsgType.BINARY:
                data: bytes = message.data
                return data
            case WSMsgType.PING:
                await self._send(self._socket.pong(message.data))
                return b""
            case WSMsgType.PONG | WSMsgType.TEXT | WSMsgType.CONTINUATION:
                return b""
        return None

    async def send(self, data: bytes) -> None:
        """Send one message; see :class:`~channels.feishu.api.Link`."""
        await self._send(self._socket.send_bytes(data))

    async def ping(self) -> None:
        """Ask for a sign of life; see :class:`~channels.feishu.api.Link`."""
        await self._send(self._socket.ping())

    async def close(self) -> None:
        """Say good-bye; see :class:`~channels.feishu.api.Link`."""
        await self._socket.close()

    async def _send(self, sending: Coroutine[Any, Any, None]) -> None:
        # A peer that reads nothing would hold us for ever once the buffers are full.
        try:
            async with asyncio.timeout(_SEND_SECONDS):
                await sending
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise BrokenError(type(error).__name__) from None
