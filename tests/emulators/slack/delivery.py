"""How the emulated Slack gets events to an app: over sockets or HTTP, and again when nobody confirms."""

import asyncio
import hashlib
import hmac
import itertools
import json
import logging
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import aiohttp
from aiohttp import web

from tests.emulators.slack.world import Json

log = logging.getLogger(__name__)

MOST_SOCKETS = 10


@dataclass(slots=True, eq=False)
class SocketEnd:
    """Our end of a Socket Mode connection.

    Args:
        ws: The connection.
        frozen: True when it answers nothing any more, not even pings.
        muted: True when it answers pings, but gets no events to carry.
    """

    ws: web.WebSocketResponse
    frozen: bool = False
    muted: bool = False


@dataclass(slots=True)
class Envelope:
    """Something to be delivered.

    Args:
        kind: ``events_api``, ``slash_commands`` or ``interactive``.
        tries: How often it was sent.
        acked: True once the app has confirmed it.
        lost: True when the last try went unconfirmed.
        answer: What the app sent back with its confirmation.
    """

    kind: str
    payload: Any
    tries: int = 0
    acked: bool = False
    lost: bool = False
    answer: Any = None
    confirmed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def settled(self) -> bool:
        """True when nothing more will happen to it."""
        return self.acked or self.lost


@dataclass(frozen=True, slots=True)
class HttpTarget:
    """Where events go instead of to sockets.

    Args:
        url: The app's request URL.
        secret: What requests are signed with.
    """

    url: str
    secret: str


class Deliveries:
    """Delivers in order at first, and unconfirmed events again later.

    Slack waits 3 s and tries again at once, after a minute and after five (Slack docs, "Events API").
    Unlike Slack, which gives up after those, this one holds events as long as no socket is open.

    Args:
        notify: Called after each change.
    """

    def __init__(self, notify: Callable[[], None]) -> None:
        self.ack_seconds = 3.0
        self.retry_seconds = (0.0, 1.0, 5.0)
        self.ignored_acks = 0
        self.sockets: list[SocketEnd] = []
        self.target: HttpTarget | None = None
        self.envelopes: list[Envelope] = []
        self._notify = notify
        self._open = asyncio.Event()
        self._queue: asyncio.Queue[Envelope] = asyncio.Queue()
        self._waiting: dict[str, Envelope] = {}
        self._turn = itertools.count()
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin to deliver."""
        self._own(self._pump())

    async def stop(self) -> None:
        """Deliver nothing more."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def delivering(self) -> set["asyncio.Task[None]"]:
        """Tasks that are the emulator's own."""
        return set(self._tasks)

    def push(self, kind: str, payload: Any) -> Envelope:
        """Put something into the queue."""
        envelope = Envelope(kind, payload)
        self.envelopes.append(envelope)
        self._queue.put_nowait(envelope)
        return envelope

    def add(self, socket: SocketEnd) -> None:
        """A socket is ready to carry events."""
        self.sockets.append(socket)
        self._open.set()
        self._notify()

    def remove(self, socket: SocketEnd) -> None:
        """A socket is gone."""
        if socket in self.sockets:
            self.sockets.remove(socket)
        if not self.sockets:
            self._open.clear()
        self._notify()

    def confirm(self, envelope_id: str, answer: Any) -> None:
        """The app has confirmed an envelope."""
        envelope = self._waiting.pop(envelope_id, None)
        if envelope is None or self._loses_ack():
            return
        envelope.acked, envelope.answer = True, answer
        envelope.confirmed.set()
        self._notify()

    def _loses_ack(self) -> bool:
        """Whether this confirmation is one that gets lost on the way (``ignored_acks``)."""
        if self.ignored_acks == 0:
            return False
        self.ignored_acks -= 1
        return True

    async def _pump(self) -> None:
        while True:
            envelope = await self._queue.get()
            if self.target is None:
                await self._send(envelope)
                self._own(self._follow_up(envelope))
            else:
                self._own(self._post_until_confirmed(envelope, self.target))

    async def _send(self, envelope: Envelope) -> None:
        """Send once, to whichever socket's turn it is."""
        envelope_id = str(uuid.uuid4())
        frame: Json = {
            "envelope_id": envelope_id,
            "type": envelope.kind,
            "payload": envelope.payload,
            "accepts_response_payload": envelope.kind != "events_api",
        }
        if envelope.kind == "events_api":
            frame |= {"retry_attempt": envelope.tries, "retry_reason": "timeout" if envelope.tries else ""}
        self._waiting[envelope_id] = envelope
        while True:
            await self._open.wait()
            socket = self.sockets[next(self._turn) % len(self.sockets)]
            envelope.tries += 1
            if socket.muted or socket.frozen:
                return
            try:
                await socket.ws.send_str(json.dumps(frame))
            except (ConnectionError, aiohttp.ClientError):
                envelope.tries -= 1
                self.remove(socket)
            else:
                return

    async def _follow_up(self, envelope: Envelope) -> None:
        """Only events are sent again; whoever used a command or button is told that it failed."""
        delays = self.retry_seconds if envelope.kind == "events_api" else ()
        for delay in (*delays, None):
            try:
                await asyncio.wait_for(envelope.confirmed.wait(), self.ack_seconds)
            except TimeoutError:
                if delay is None:
                    break
                await asyncio.sleep(delay)
                if envelope.acked:
                    return
                await self._send(envelope)
            else:
                return
        envelope.lost = True
        self._notify()

    async def _post_until_confirmed(self, envelope: Envelope, target: HttpTarget) -> None:
        delays = self.retry_seconds if envelope.kind == "events_api" else ()
        for delay in (*delays, None):
            envelope.tries += 1
            if await self._post(envelope, target) == 200 and not self._loses_ack():
                envelope.acked = True
                break
            if delay is not None:
                await asyncio.sleep(delay)
        envelope.lost = not envelope.acked
        self._notify()

    async def _post(self, envelope: Envelope, target: HttpTarget) -> int:
        body, kind = encode(envelope.kind, envelope.payload)
        headers = {"Content-Type": kind, **signed(body, target.secret, time.time())}
        if envelope.tries > 1:
            headers |= {"X-Slack-Retry-Num": str(envelope.tries - 1), "X-Slack-Retry-Reason": "http_timeout"}
        timeout = aiohttp.ClientTimeout(total=self.ack_seconds)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.post(target.url, data=body, headers=headers) as answer,
            ):
                envelope.answer = await answer.text()
                return answer.status
        except (aiohttp.ClientError, TimeoutError) as error:
            log.debug("the app was not reached: %s", error)
            return 0

    def _own(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def encode(kind: str, payload: Any) -> tuple[bytes, str]:
    """A request body and its media type: JSON for events, forms for commands and buttons."""
    match kind:
        case "events_api":
            return json.dumps(payload).encode(), "application/json"
        case "slash_commands":
            return urlencode(payload).encode(), "application/x-www-form-urlencoded"
        case _:
            return urlencode({"payload": json.dumps(payload)}).encode(), "application/x-www-form-urlencoded"


def signed(body: bytes, secret: str, at: float) -> dict[str, str]:
    """The headers that prove a request to be Slack's."""
    stamp = str(int(at))
    digest = hmac.new(secret.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}
