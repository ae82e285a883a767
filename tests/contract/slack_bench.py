"""Slack on the bench, by socket and by HTTP."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from channels.channel import Channel
from channels.slack.channel import SlackChannel
from channels.text import utf16_length
from tests.contract.bench import Place, PlatformBench, Seen, until
from tests.emulators.slack import HttpTarget, SlackEmulator, bad_gateway, signed, too_many
from tests.hart import Site


class SlackBench(PlatformBench):
    """An app in Socket Mode."""

    message_limit = 12_000
    upload_limit = 1024 * 1024 * 1024

    async def open(self) -> None:
        self._slack = SlackEmulator()
        await self._slack.__aenter__()
        self._ann = self._slack.user("Ann Lee")
        self._cid = self._slack.user("Cid", is_bot=True)

    async def close(self) -> None:
        await self._slack.__aexit__(None, None, None)

    def make(self, **settings: Any) -> Channel:
        defaults: dict[str, Any] = {
            "account": "main",
            "bot_token": self._slack.bot_token,
            "base_url": self._slack.base_url,
            "response_seconds": 10.0,
            "limits": (),
            "pause": self.pause,
            "chance": lambda: 1.0,
        }
        return SlackChannel(**(defaults | self.ways() | settings))

    def ways(self) -> dict[str, Any]:
        """The settings that say how the app hears."""
        return {"app_token": self._slack.app_token}

    def make_watchful(self) -> Channel:
        return self.build(ping_seconds=0.1)

    def notify(self) -> None:
        self._slack.notify()

    def listeners(self) -> int:
        return len(self._slack.sockets)

    def emulating(self) -> set["asyncio.Task[Any]"]:
        return self._slack.deliveries.delivering()

    def direct(self) -> Place:
        return Place(self._slack.dm(self._ann).id)

    def another_chat(self) -> Place:
        return Place(self._slack.dm(self._slack.user("Bo")).id)

    def group(self) -> Place:
        return Place(self._slack.channel("ops").id)

    def thread(self) -> Place:
        ops = self._slack.channel("ops")
        return Place(ops.id, self._slack.keep(ops, {"user": self._ann.id, "text": "Releases"})["ts"])

    def say(self, place: Place, text: str, *, mention: bool = False) -> str:
        said = f"{self._slack.at} {text}" if mention else text
        message = self._slack.say(self._slack.channels[place.chat], self._ann, said, **_in(place))
        return str(message["ts"])

    def send_file(self, place: Place, name: str, data: bytes, text: str = "") -> None:
        chat = self._slack.channels[place.chat]
        self._slack.send_file(chat, self._ann, name, data, text=text, **_in(place))

    def say_as_bot(self, place: Place, text: str) -> None:
        self._slack.say(self._slack.channels[place.chat], self._cid, f"{self._slack.at} {text}")

    def edit(self, place: Place, message_id: str, text: str) -> None:
        self._slack.edit(self._slack.channels[place.chat], self._slack.messages[place.chat][message_id], text)

    def deliver_again(self) -> None:
        for envelope in list(self._slack.deliveries.envelopes):
            self._slack.push(envelope.kind, envelope.payload)

    def garbage(self) -> int:
        home = self.direct().chat
        good = {"type": "message", "user": self._ann.id, "channel": home, "ts": "1796000000.000100"}
        malformed: tuple[Any, ...] = (
            good | {"ts": 17},
            good | {"ts": "yesterday"},
            good | {"channel": ["C1"]},
            good | {"channel": "general"},
            good | {"user": None},
            good | {"files": [{"id": 4}]},
            good | {"text": {"deep": [1]}},
            {"type": ["message"], "channel": home},
            "no object",
            [],
        )
        for event in malformed:
            self._slack.push_event(event)
        for event in ({"type": "reaction_added", "user": self._ann.id}, {"type": "brand_new", "x": [1]}):
            self._slack.push_event(event)
        return len(malformed)

    def lose_acks(self, count: int) -> None:
        self._slack.deliveries.ignored_acks = count

    def hurry(self) -> None:
        self._slack.deliveries.ack_seconds = 0.4
        self._slack.deliveries.retry_seconds = (0.05, 0.1, 1.0)

    async def outwait(self) -> None:
        await until(lambda: self._slack.deliveries.envelopes[-1].tries > 1)

    def is_acked(self) -> bool:
        assert not any(envelope.lost for envelope in self._slack.deliveries.envelopes)
        return all(envelope.acked for envelope in self._slack.deliveries.envelopes)

    def seen(self) -> list[Seen]:
        return [
            Seen(
                id=sent.ts,
                place=Place(sent.channel, sent.thread),
                text=sent.text,
                file_name=sent.file_name,
                data=sent.document,
                buttons=tuple(label for label, _, _ in sent.buttons),
            )
            for sent in self._slack.sent
        ]

    def configure(self, site: Site) -> None:
        site.use_slack(self._slack)

    def measure(self, seen: Seen) -> int:
        return utf16_length(seen.text)

    def press(self, seen: Seen, label: str) -> None:
        (sent,) = (one for one in self._slack.sent if one.ts == seen.id)
        self._slack.press(sent, label, self._ann)

    def is_busy(self, place: Place, message_id: str) -> bool:
        return bool(self._slack.reactions.get((place.chat, message_id)))

    def limit_posts(self, seconds: int) -> None:
        self._slack.faults.add("chat.postMessage", too_many(seconds))

    def limit_listening(self, seconds: int) -> None:
        self._slack.faults.add("apps.connections.open", too_many(seconds))

    def refuse_listening(self) -> None:
        self._slack.faults.add("apps.connections.open", bad_gateway(), None)

    def offline(self) -> AbstractAsyncContextManager[None]:
        return self._slack.offline()

    async def cut(self) -> None:
        self._slack.abort_sockets()

    async def hang_up(self) -> None:
        await self._slack.disconnect()

    async def silence(self) -> None:
        self._slack.freeze_sockets()


class SlackHttpBench(SlackBench):
    """An app with a request URL."""

    async def open(self) -> None:
        await super().open()
        self._app = Starlette()
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        self._url = f"http://127.0.0.1:{listener.getsockname()[1]}/slack/main/events"
        config = uvicorn.Config(
            self._serve, interface="asgi3", log_config=None, lifespan="off", access_log=False
        )
        self._server = uvicorn.Server(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]))
        self._receiving = 0
        self._slack.deliveries.target = HttpTarget(self._url, self._slack.signing_secret)

    async def close(self) -> None:
        await super().close()
        self._server.should_exit = True
        await self._serving

    def ways(self) -> dict[str, Any]:
        return {"signing_secret": self._slack.signing_secret}

    def listeners(self) -> int:
        return self._receiving

    def emulating(self) -> set["asyncio.Task[Any]"]:
        return super().emulating() | {self._serving} | self._server.server_state.tasks

    @asynccontextmanager
    async def served(self, channel: Channel) -> AsyncIterator[None]:
        """Requests reach this channel within the block; those at work at its end go no further."""
        assert isinstance(channel, SlackChannel)
        self._app = Starlette(routes=channel.routes())
        asking = asyncio.create_task(self._ask_until_heard())
        try:
            yield
        finally:
            tasks = {asking, *self._server.server_state.tasks}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._app, self._receiving = Starlette(), 0

    async def _ask_until_heard(self) -> None:
        """Verify the request URL, as Slack does when somebody enters it, until there is an answer."""
        body = json.dumps({"type": "url_verification", "challenge": "3eZbrw1a"}).encode()
        async with httpx.AsyncClient() as client:
            while True:
                headers = signed(body, self._slack.signing_secret, time.time())
                answer = await client.post(
                    self._url, content=body, headers={"Content-Type": "application/json", **headers}
                )
                if answer.status_code == 200:
                    self._receiving = 1
                    return
                await asyncio.sleep(0.005)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            return


def _in(place: Place) -> dict[str, Any]:
    return {} if place.thread is None else {"thread_ts": place.thread}
