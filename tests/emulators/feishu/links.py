"""The long connections of the emulated Feishu: handshakes, frames, acknowledgements, redelivery."""

import asyncio
import base64
import json
import uuid
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from aiohttp import WSMsgType, web

from channels.feishu.frames import Frame, MalformedFrameError, Method, decode, encode
from tests.emulators.feishu.world import Delivery, World

SERVICE_ID = 33554678


class Connection:
    """One long connection of the bot."""

    def __init__(self, socket: web.WebSocketResponse, transport: asyncio.Transport) -> None:
        self.socket = socket
        self.transport = transport
        self.silent = False
        self.pings = 0
        self.waiting: dict[str, asyncio.Future[Frame]] = {}


class Links(World):
    """Delivers events over long connections.

    ``redelivery`` holds the seconds after which an event that was not taken is sent again (really
    15 s, 5 min, 1 h and 6 h), ``ack_seconds`` how long an acknowledgement may take (really 3 s).
    """

    def __init__(self, app_id: str, bot_name: str) -> None:
        super().__init__(app_id, bot_name)
        self.redelivery: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0)
        self.ack_seconds = 3.0
        self.ping_interval = 120
        self.parts = 1
        self.parts_reversed = False
        self.missing_part: int | None = None
        self.swallow_acks = 0
        self.mute = False
        self.spread = False
        self.connections: list[Connection] = []
        self.opened = 0
        self.pings = 0
        self.handshake_refusal: dict[str, str] | None = None
        self.tickets: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = 0

    def new_address(self, port: int) -> str:
        """Where one connection can be opened."""
        ticket = str(uuid.uuid4())
        self.tickets.add(ticket)
        return (
            f"ws://127.0.0.1:{port}/ws/v2?fpid=493&aid=552564&device_id={uuid.uuid4().int % 10**19}"
            f"&access_key={uuid.uuid4().hex}&service_id={SERVICE_ID}&ticket={ticket}"
        )

    def client_config(self) -> dict[str, int]:
        """What the bot is told about pings and reconnecting."""
        return {
            "ReconnectCount": -1,
            "ReconnectInterval": 1,
            "ReconnectNonce": 1,
            "PingInterval": self.ping_interval,
        }

    async def wait_until_heard(self, timeout: float = 10) -> None:
        """Wait until the bot has taken all events."""
        await self.wait_for(lambda: all(one.acked for one in self.deliveries), timeout)

    async def wait_until_connected(self, count: int = 1, timeout: float = 10) -> None:
        """Wait until so many connections have been opened in all, and one is open."""
        await self.wait_for(lambda: self.opened >= count and self.connections, timeout)

    def kill(self) -> None:
        """Break all long connections."""
        for connection in list(self.connections):
            connection.transport.abort()

    def half_open(self) -> None:
        """The connections there are fall silent: nothing is read or written, and nothing closed."""
        for connection in self.connections:
            connection.silent = True
            connection.transport.pause_reading()

    async def hang_up(self) -> None:
        """End all long connections in good order."""
        for connection in list(self.connections):
            await connection.socket.close()

    async def send_bytes(self, data: bytes) -> None:
        """Put any bytes on every connection."""
        for connection in self.connections:
            await connection.socket.send_bytes(data)

    async def serve_link(self, request: web.BaseRequest) -> web.StreamResponse:
        """One long connection, from handshake to end."""
        refusal = self.handshake_refusal
        ticket = request.query.get("ticket", "")
        if refusal is None and ticket not in self.tickets:
            refusal = {
                "Handshake-Status": "514",
                "Handshake-Msg": "auth failed",
                "Handshake-Autherrcode": "1",
            }
        if refusal is not None:
            return web.Response(status=400, headers=refusal)
        self.tickets.discard(ticket)
        socket = web.WebSocketResponse(max_msg_size=0, timeout=0.2)
        await socket.prepare(request)
        assert isinstance(request.transport, asyncio.Transport)
        connection = Connection(socket, request.transport)
        self.connections.append(connection)
        self.opened += 1
        self.notify()
        try:
            async for message in socket:
                if message.type is WSMsgType.BINARY:
                    await self._received(connection, message.data)
        finally:
            self.connections.remove(connection)
            for waiting in connection.waiting.values():
                waiting.cancel()
            self.notify()
        return socket

    async def stop_delivering(self) -> None:
        """End all tries under way."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def delivering(self) -> set["asyncio.Task[Any]"]:
        """Tasks that are the emulator's own."""
        return set(self._tasks)

    def _dispatch(self, delivery: Delivery) -> None:
        task = asyncio.get_running_loop().create_task(self._deliver(delivery))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver(self, delivery: Delivery) -> None:
        for wait in (0.0,) if delivery.callback else (0.0, *self.redelivery):
            await asyncio.sleep(wait)
            connection = self._choose()
            if connection is None:
                continue
            code, answer = await self._try(connection, delivery)
            delivery.codes.append(code)
            if code == 200:
                delivery.acked, delivery.answer = True, answer
                self.notify()
                return
            self.notify()
        delivery.lost = True
        self.notify()

    def _choose(self) -> Connection | None:
        if not self.connections:
            return None
        if self.spread:
            self._turn += 1
            return self.connections[self._turn % len(self.connections)]
        return self.connections[-1]

    async def _try(self, connection: Connection, delivery: Delivery) -> tuple[int, Any]:
        """Send an event; the code that came back, 0 for none in time, and what a callback answered."""
        delivery.tries += 1
        message_id = str(uuid.uuid4())
        taken: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
        connection.waiting[message_id] = taken
        try:
            async with asyncio.timeout(self.ack_seconds):
                if not (self.mute or connection.silent):
                    for frame in self._frames(delivery.payload, message_id):
                        await connection.socket.send_bytes(encode(frame))
                frame = await taken
        except (TimeoutError, ConnectionError, asyncio.CancelledError):
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
            return 0, None
        finally:
            connection.waiting.pop(message_id, None)
        body = json.loads(frame.payload or b"{}")
        data = body.get("data")
        return int(body["code"]), json.loads(base64.b64decode(data)) if data else None

    def _frames(self, payload: bytes, message_id: str) -> Iterator[Frame]:
        total = max(1, min(self.parts, len(payload)))
        size = -(-len(payload) // total)
        chunks = [payload[at : at + size] for at in range(0, len(payload), size or 1)] or [b""]
        order = list(enumerate(chunks))
        for index, chunk in reversed(order) if self.parts_reversed else order:
            if index == self.missing_part:
                continue
            headers = {
                "type": "event",
                "message_id": message_id,
                "sum": str(len(chunks)),
                "seq": str(index),
                "trace_id": uuid.uuid4().hex,
            }
            yield Frame(index + 1, 7 << 40, SERVICE_ID, Method.DATA, tuple(headers.items()), payload=chunk)

    async def _received(self, connection: Connection, data: bytes) -> None:
        if connection.silent:
            return
        try:
            frame = decode(data)
        except MalformedFrameError:
            await connection.socket.close(code=1003)
            return
        if frame.method == Method.CONTROL:
            if frame.header("type") == "ping" and frame.service == SERVICE_ID:
                self.pings += 1
                pong = Frame(
                    0,
                    0,
                    SERVICE_ID,
                    Method.CONTROL,
                    (("type", "pong"),),
                    payload=json.dumps(self.client_config()).encode(),
                )
                with suppress(ConnectionError):
                    await connection.socket.send_bytes(encode(pong))
            self.notify()
            return
        if self.swallow_acks > 0:
            self.swallow_acks -= 1
            return
        waiting = connection.waiting.get(frame.header("message_id"))
        if waiting is not None and not waiting.done():
            waiting.set_result(frame)
