"""The network side of the emulated Slack: Web API, sockets, files, faults, broken connections."""

import asyncio
import json
import secrets
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

from aiohttp import WSMsgType, web

from tests.emulators.slack.delivery import MOST_SOCKETS, SocketEnd
from tests.emulators.slack.faults import (
    DropAfter,
    DropBefore,
    Fault,
    Faults,
    Hang,
    RawAnswer,
    Redirect,
    Refuse,
    Slow,
)
from tests.emulators.slack.methods import METHODS
from tests.emulators.slack.people import PeopledWorld
from tests.emulators.slack.posting import respond
from tests.emulators.slack.request import RefusalError, Request
from tests.emulators.slack.world import APP, Call

BOT_TOKEN = "xoxb-7700112233445-7700112233446-Em0123456789abcdefghijkl"
APP_TOKEN = f"xapp-1-{APP}-7700112233447-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
SIGNING_SECRET = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

_LOGIN_PAGE = b"<!DOCTYPE html><html><head><title>Sign in | Slack</title></head><body></body></html>"


class SlackEmulator(PeopledWorld):
    """``async with SlackEmulator() as slack``: a Slack on 127.0.0.1, and its world.

    Args:
        port: Where to listen; 0 takes a free port.
    """

    def __init__(self, port: int = 0) -> None:
        super().__init__()
        self.bot_token = BOT_TOKEN
        self.app_token = APP_TOKEN
        self.signing_secret = SIGNING_SECRET
        self.faults = Faults()
        self.revoked: set[str] = set()
        self.tickets: set[str] = set()
        self.opened_sockets = 0
        self._port = port
        self._runner: web.AppRunner | None = None

    @property
    def origin(self) -> str:
        """Address of the emulator."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        """Where the Web API is."""
        return f"{self.origin}/api/"

    @property
    def sockets(self) -> list[SocketEnd]:
        """The open Socket Mode connections."""
        return self.deliveries.sockets

    async def __aenter__(self) -> Self:
        await self._listen()
        self.deliveries.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.deliveries.stop()
        await self._stop_listening()

    @asynccontextmanager
    async def offline(self) -> AsyncIterator[None]:
        """Within it nothing listens, and all connections are broken. The state stays."""
        await self._stop_listening()
        try:
            yield
        finally:
            await self._listen()

    async def wait_for_sockets(self, count: int = 1, timeout: float = 10) -> None:
        """Wait until so many sockets are open."""
        await self.wait_for(lambda: len(self.sockets) == count, timeout)

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        """Tell every socket to go, as Slack does every few hours; it stays open until the app leaves."""
        for end in list(self.sockets):
            end.muted = True
            await end.ws.send_json(
                {"type": "disconnect", "reason": reason, "debug_info": {"host": "applink"}}
            )

    async def close_sockets(self) -> None:
        """Close every socket in an orderly way."""
        for end in list(self.sockets):
            await end.ws.close()

    def abort_sockets(self) -> None:
        """Break every socket."""
        for end in list(self.sockets):
            request_transport = end.ws.get_extra_info("socket")
            request_transport.shutdown(socket.SHUT_RDWR)

    def freeze_sockets(self) -> None:
        """Leave every socket open and answer nothing on it, not even pings."""
        for end in self.sockets:
            end.frozen = True

    def mute_sockets(self) -> None:
        """Answer pings on every socket, but send no events on it."""
        for end in self.sockets:
            end.muted = True

    async def _listen(self) -> None:
        application = web.Application(client_max_size=1 << 31)
        application.router.add_route("*", "/api/{method}", self._method)
        application.router.add_get("/link", self._link)
        application.router.add_post("/upload/v1/{file}", self._upload)
        application.router.add_get("/files-pri/{name}/{path:.*}", self._file)
        application.router.add_get("/signin", self._sign_in)
        application.router.add_post("/{kind:commands|actions}/{path:.*}", self._respond)
        application.router.add_post("/control/say", self._control_say)
        application.router.add_get("/control/sent", self._control_sent)
        self._runner = web.AppRunner(
            application, access_log=None, shutdown_timeout=0.1, handler_cancellation=True
        )
        await self._runner.setup()
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self._port))
        self._port = listener.getsockname()[1]
        await web.SockSite(self._runner, listener).start()

    async def _stop_listening(self) -> None:
        assert self._runner is not None
        for site in list(self._runner.sites):
            await site.stop()
        assert self._runner.server is not None
        for connection in self._runner.server.connections:
            if connection.transport is not None:
                connection.transport.abort()
        await self._runner.cleanup()

    async def _method(self, http: web.Request) -> web.StreamResponse:
        name = http.match_info["method"]
        params, encoding = await _parameters(http)
        self.calls.append(Call(name, params, time.time()))
        self.notify()
        fault = self.faults.take(name)
        answer = await self._before(http, fault)
        if answer is not None:
            return answer
        try:
            result = await self._obey(name, http, params, encoding)
        except RefusalError as refusal:
            return web.json_response({"ok": False, "error": refusal.error, **refusal.more})
        self.notify()
        if isinstance(fault, DropAfter):
            return await self._drop(http)
        return web.json_response({"ok": True, **result})

    async def _obey(self, name: str, http: web.Request, params: Any, encoding: str) -> dict[str, Any]:
        token = http.headers.get("Authorization", "").removeprefix("Bearer ") or params.get("token", "")
        if not token:
            raise RefusalError("not_authed")
        if token not in (self.bot_token, self.app_token) or token in self.revoked:
            raise RefusalError("invalid_auth")
        if (token == self.app_token) != (name == "apps.connections.open"):
            raise RefusalError("not_allowed_token_type")
        if name == "apps.connections.open":
            ticket = secrets.token_hex(16)
            self.tickets.add(ticket)
            return {"url": f"ws://127.0.0.1:{self._port}/link?ticket={ticket}&app_id={APP}"}
        method = METHODS.get(name)
        if method is None:
            raise RefusalError("unknown_method", req_method=name)
        result: dict[str, Any] = await method(Request(self, params, encoding, self.origin))
        return result

    async def _link(self, http: web.Request) -> web.StreamResponse:
        fault = self.faults.take("link")
        answer = await self._before(http, fault)
        if answer is not None:
            return answer
        ticket = http.query.get("ticket", "")
        if ticket not in self.tickets:
            return web.Response(status=403)
        self.tickets.remove(ticket)
        ws = web.WebSocketResponse(autoping=False)
        await ws.prepare(http)
        end = SocketEnd(ws)
        await ws.send_json(
            {
                "type": "hello",
                "num_connections": len(self.sockets) + 1,
                "connection_info": {"app_id": APP},
                "debug_info": {"host": "applink", "approximate_connection_time": 18060},
            }
        )
        if len(self.sockets) >= MOST_SOCKETS:
            await ws.send_json({"type": "disconnect", "reason": "too_many_websockets"})
            await ws.close()
            return ws
        self.opened_sockets += 1
        self.deliveries.add(end)
        try:
            await self._carry(end)
        finally:
            self.deliveries.remove(end)
        return ws

    async def _carry(self, end: SocketEnd) -> None:
        async for frame in end.ws:
            if end.frozen:
                continue
            if frame.type is WSMsgType.PING:
                await end.ws.pong(frame.data)
            elif frame.type is WSMsgType.TEXT:
                said = json.loads(frame.data)
                self.deliveries.confirm(said["envelope_id"], said.get("payload"))

    async def _upload(self, http: web.Request) -> web.StreamResponse:
        data = await http.read()
        self.calls.append(Call("upload", {"headers": dict(http.headers), "bytes": len(data)}, time.time()))
        fault = self.faults.take("upload")
        answer = await self._before(http, fault)
        if answer is not None:
            return answer
        file = self.files.get(http.match_info["file"])
        if file is None or file.shared:
            return web.Response(status=404)
        file.data = data
        if isinstance(fault, DropAfter):
            return await self._drop(http)
        return web.Response(text=f"OK - {len(data)}")

    async def _file(self, http: web.Request) -> web.StreamResponse:
        self.calls.append(Call("file", {"headers": dict(http.headers), "path": http.path}, time.time()))
        fault = self.faults.take("file")
        answer = await self._before(http, fault)
        if answer is not None:
            return answer
        file = self.files.get(http.match_info["name"].partition("-")[2])
        if file is None:
            return web.Response(status=404)
        known = http.headers.get("Authorization") == f"Bearer {self.bot_token}"
        if not known or "files:read" not in self.scopes:
            raise web.HTTPFound(f"{self.origin}/signin?redir={http.path}")
        headers = {"Content-Type": file.mime, "Content-Disposition": 'attachment; filename="file"'}
        if isinstance(fault, DropAfter):
            half = web.StreamResponse(headers={**headers, "Content-Length": str(len(file.data))})
            await half.prepare(http)
            await half.write(file.data[: len(file.data) // 2])
            await asyncio.sleep(0.05)
            return await self._drop(http)
        return web.Response(body=file.data, headers=headers)

    async def _respond(self, http: web.Request) -> web.StreamResponse:
        params = await http.json()
        self.calls.append(Call("response_url", {"headers": dict(http.headers), **params}, time.time()))
        fault = self.faults.take("response_url")
        answer = await self._before(http, fault)
        if answer is not None:
            return answer
        way = self.response_urls.get(http.path)
        said = respond(self, way, params) if way is not None else "no_service"
        self.notify()
        if isinstance(fault, DropAfter):
            return await self._drop(http)
        return web.Response(text=said, status=200 if said == "ok" else 404)

    async def _sign_in(self, http: web.Request) -> web.Response:
        return web.Response(body=_LOGIN_PAGE, content_type="text/html")

    async def _before(self, http: web.Request, fault: Fault | None) -> web.StreamResponse | None:
        """What a fault does before the request is obeyed; an answer means that it is not."""
        match fault:
            case Refuse(error, status, headers, more):
                return web.json_response(
                    {"ok": False, "error": error, **more}, status=status, headers=headers
                )
            case RawAnswer(body, status, content_type, headers):
                return web.Response(
                    body=body, status=status, headers={"Content-Type": content_type, **headers}
                )
            case DropBefore():
                return await self._drop(http)
            case Hang():
                await asyncio.Event().wait()
            case Slow(seconds):
                await asyncio.sleep(seconds)
            case Redirect(url):
                raise web.HTTPFound(url)
        return None

    async def _drop(self, http: web.Request) -> web.StreamResponse:
        """Break the connection a request came on."""
        assert http.transport is not None
        http.transport.abort()
        await asyncio.Event().wait()
        raise AssertionError

    async def _control_say(self, http: web.Request) -> web.Response:
        """``{"name", "text"[, "channel"]}``: a person writes, to the bot directly or in a channel."""
        wanted = await http.json()
        known = (user for user in self.users.values() if user.name == wanted["name"])
        user = next(known, None) or self.user(str(wanted["name"]))
        channel = self.channels.get(str(wanted.get("channel", ""))) or self.dm(user)
        return web.json_response(self.say(channel, user, str(wanted["text"])) | {"channel": channel.id})

    async def _control_sent(self, http: web.Request) -> web.Response:
        """All messages of the bot, without file contents."""
        return web.json_response(
            [
                {
                    "method": sent.method,
                    "channel": sent.channel,
                    "ts": sent.ts,
                    "thread": sent.thread,
                    "text": sent.text,
                    "file_name": sent.file_name,
                    "accepted_at": sent.accepted_at,
                }
                for sent in self.sent
            ]
        )


async def _parameters(http: web.Request) -> tuple[dict[str, Any], str]:
    """Parameters from the query, a form or JSON, and which of them it was."""
    params: dict[str, Any] = dict(http.query)
    if http.content_type == "application/json":
        return params | await http.json(), "json"
    if http.method == "POST":
        form = await http.post()
        return params | {key: value for key, value in form.items() if isinstance(value, str)}, "form"
    return params, "query"
