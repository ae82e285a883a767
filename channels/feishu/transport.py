"""The long connection, kept up whatever happens to it.

An event is answered only once the inbox has it on disk; one that is not answered within three
seconds, or with an error, is delivered again by the platform (four times, over hours).
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from channels.backoff import Pause, backoff_seconds
from channels.feishu.api import ApiError, BrokenError, Endpoint, Link, OpenApi, RefusedError
from channels.feishu.assembly import Assembler
from channels.feishu.frames import (
    Frame,
    MalformedFrameError,
    Method,
    answer_frame,
    decode,
    encode,
    ping_frame,
)
from channels.feishu.hearing import AGAIN, SHOWN, Answer, Hearer, is_callback

log = logging.getLogger(__name__)

LONGEST_PAUSE = 60.0
"""Seconds between two tries to connect, at most."""

_LONGEST_OBEYED_PAUSE = 300.0
"""The same when the platform asks for more."""

CALLBACK_SECONDS = 2.5
"""How long a callback may take to be stored before it is answered anyhow: the platform waits for three."""

_MOST_WAITING = 1000
_MOST_CALLBACKS = 100


@dataclass(frozen=True, slots=True)
class Timing:
    """How a connection is watched, in seconds.

    Args:
        ping: How often to ask for a sign of life.
        pong: How long to wait for one. Three seconds were too few in the field.
        silence: After how long without any event to connect anew, for servers that answer pings and
            deliver nothing; None never.
    """

    ping: float = 30.0
    pong: float = 20.0
    silence: float | None = None


@dataclass(frozen=True, slots=True)
class _Delivery:
    """An event and where its answer goes."""

    frame: Frame
    payload: bytes
    link: Link


class Listener:
    """Hands all events of one app to a hearer, one after the other.

    Args:
        client: The open platform.
        account: Name of the account, for the log.
        hearer: Takes the events.
        timing: How to watch the connection.
        pause: Waits between tries.
        monotonic: Seconds that only grow.
        chance: Gives numbers between 0 and 1.
    """

    def __init__(
        self,
        client: OpenApi,
        account: str,
        hearer: Hearer,
        timing: Timing,
        pause: Pause,
        monotonic: Callable[[], float],
        chance: Callable[[], float],
    ) -> None:
        self._client = client
        self._account = account
        self._hearer = hearer
        self._timing = timing
        self._pause = pause
        self._monotonic = monotonic
        self._chance = chance
        # It outlives connections: what a lost one brought is stored, though its answer goes nowhere.
        self._waiting: asyncio.Queue[_Delivery] = asyncio.Queue(_MOST_WAITING)
        self._callbacks: asyncio.Queue[_Delivery] = asyncio.Queue(_MOST_CALLBACKS)
        self._sign_of_life = asyncio.Event()
        self._lived = False
        self._last_event = 0.0

    async def run(self) -> None:
        """Listen until cancelled. No refusal ends it: what is wrong may be mended on the other side."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._work())
            group.create_task(self._work_callbacks())
            group.create_task(self._stay_connected())

    async def _stay_connected(self) -> None:
        failures = 0
        while True:
            self._lived = False
            asked: float | None = None
            try:
                await self._hearer.prepare()
                endpoint = await self._client.endpoint()
                link = await self._client.open_link(endpoint)
            except ApiError as fault:
                reason = str(fault)
                asked = fault.retry_after if isinstance(fault, RefusedError) else None
            else:
                log.info("feishu/%s: connected", self._account)
                reason = await self._serve(link, endpoint)
            failures = 1 if self._lived else failures + 1
            log.warning("feishu/%s: not connected (%d in a row): %s", self._account, failures, reason)
            own = backoff_seconds(failures, self._chance(), longest=LONGEST_PAUSE)
            await self._pause(max(own, min(asked or 0.0, _LONGEST_OBEYED_PAUSE)))

    async def _serve(self, link: Link, endpoint: Endpoint) -> str:
        """Use a connection until it ends, and tell why it did."""
        self._last_event = self._monotonic()
        tasks = (
            asyncio.create_task(self._read(link)),
            asyncio.create_task(self._watch(link, endpoint)),
        )
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return done.pop().result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            # Without a good-bye the platform would go on sending events to a connection that is gone.
            await link.close()

    async def _read(self, link: Link) -> str:
        assembler = Assembler(self._monotonic)
        while (data := await link.receive()) is not None:
            self._sign_of_life.set()
            self._lived = True
            if data:
                await self._take(data, link, assembler)
        return "the platform ended the connection"

    async def _take(self, data: bytes, link: Link, assembler: Assembler) -> None:
        try:
            frame = decode(data)
        except MalformedFrameError as fault:
            log.warning("feishu/%s: what came is no frame: %s", self._account, fault)
            return
        if frame.method != Method.DATA:
            return
        self._last_event = self._monotonic()
        payload = assembler.add(frame)
        if payload is None:
            return
        queue = self._callbacks if is_callback(payload) else self._waiting
        try:
            queue.put_nowait(_Delivery(frame, payload, link))
        except asyncio.QueueFull:
            await self._answer(link, frame, AGAIN, 0)

    async def _work(self) -> None:
        while True:
            delivery = await self._waiting.get()
            began = time.monotonic()
            answer = await self._hearer.hear(delivery.payload)
            took_ms = int((time.monotonic() - began) * 1000)
            await self._answer(delivery.link, delivery.frame, answer, took_ms)

    async def _work_callbacks(self) -> None:
        """Callbacks are their own queue: they cannot wait behind messages."""
        while True:
            delivery = await self._callbacks.get()
            hearing = asyncio.create_task(self._hearer.hear(delivery.payload))
            try:
                done, _ = await asyncio.wait({hearing}, timeout=CALLBACK_SECONDS)
                await self._answer(delivery.link, delivery.frame, hearing.result() if done else SHOWN, 0)
                await hearing
            finally:
                hearing.cancel()

    async def _answer(self, link: Link, frame: Frame, answer: Answer, took_ms: int) -> None:
        try:
            await link.send(encode(answer_frame(frame, answer.code, answer.data, took_ms)))
        except BrokenError:
            log.info("feishu/%s: an event could not be answered, and will come again", self._account)

    async def _watch(self, link: Link, endpoint: Endpoint) -> str:
        """Notice when the connection is there in name only."""
        last_ping: float | None = None
        while True:
            self._sign_of_life.clear()
            try:
                now = self._monotonic()
                if last_ping is None or now - last_ping >= endpoint.ping_seconds:
                    await link.send(encode(ping_frame(endpoint.service)))
                    last_ping = now
                await link.ping()
                # Not wait_for, which can swallow a cancellation that meets the sign (before Python 3.12).
                async with asyncio.timeout(self._timing.pong):
                    await self._sign_of_life.wait()
            except BrokenError:
                return "the connection broke"
            except TimeoutError:
                return f"no sign of life for {self._timing.pong:g} s"
            silence = self._timing.silence
            if silence is not None and self._monotonic() - self._last_event >= silence:
                return f"no event for {silence:g} s"
            await asyncio.sleep(min(self._timing.ping, endpoint.ping_seconds))
