"""The HTTP side of the emulated Feishu: routes, tokens, faults, broken connections."""

import asyncio
import json
import logging
import re
import socket
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

from aiohttp import BodyPartReader, web

from tests.emulators.feishu.faults import DropAfter, DropBefore, Fault, Faults, Hang, RawAnswer, Refuse, Slow
from tests.emulators.feishu.links import Links
from tests.emulators.feishu.methods import ROUTES, Handler, RefusalError, Request, UploadedFile
from tests.emulators.feishu.world import Call, Message, Sent

APP_ID = "cli_a1b2c3d4e5f60718"
APP_SECRET = "Emulated0SecretOfTheApp0123456789"
TOKEN_SECONDS = 7200


class FeishuEmulator(Links):
    """``async with FeishuEmulator() as feishu``: an open platform on 127.0.0.1, and its world.

    Args:
        port: Where to listen; 0 takes a free port.
        app_id: The one app that is known.
        app_secret: Its secret.
        bot_name: The name of its bot.
    """

    def __init__(
        self, port: int = 0, app_id: str = APP_ID, app_secret: str = APP_SECRET, bot_name: str = "Hart"
    ) -> None:
        super().__init__(app_id, bot_name)
        self.app_secret = app_secret
        self.faults = Faults()
        self.now: Callable[[], float] = time.time
        self.token_seconds = TOKEN_SECONDS
        self.tokens: dict[str, float] = {}
        self._port = port
        self._known: dict[str, tuple[float, Message]] = {}
        self._server: asyncio.Server | None = None
        self._web: web.Server | None = None
        self._routes = [
            (name, method, re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path)), handler)
            for name, method, path, handler in ROUTES
        ]

    @property
    def base_url(self) -> str:
        """Where the open platform is."""
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        await self._listen()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop_delivering()
        await self._stop_listening()

    @asynccontextmanager
    async def offline(self) -> AsyncIterator[None]:
        """Within it nothing listens, and all connections are broken. The state stays."""
        await self._stop_listening()
        try:
            yield
        finally:
            await self._listen()

    def count(self, method: str) -> int:
        """How often a method was called."""
        return sum(call.method == method for call in self.calls)

    async def wait_for_sent(self, count: int = 1, timeout: float = 10) -> list[Sent]:
        """Wait until the bot has posted so many messages and return all of them."""
        await self.wait_for(lambda: len(self.sent) >= count, timeout)
        return list(self.sent)

    def expire_tokens(self) -> None:
        """No token given out so far is good any more."""
        self.tokens.clear()

    def open_sockets(self) -> int:
        """How many TCP connections of the bot are open."""
        return len(self._web.connections) if self._web else 0

    async def _listen(self) -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self._port))
        self._port = listener.getsockname()[1]
        quiet = logging.getLogger("tests.emulators.feishu")
        self._web = web.Server(self._serve, handler_cancellation=True, access_log=None, logger=quiet)
        self._server = await asyncio.get_running_loop().create_server(self._web, sock=listener)

    async def _stop_listening(self) -> None:
        assert self._server is not None
        assert self._web is not None
        self._server.close()
        for handler in self._web.connections:
            if handler.transport is not None:
                handler.transport.abort()
        await self._web.shutdown(0.1)

    async def _serve(self, http: web.BaseRequest) -> web.StreamResponse:
        if http.path == "/ws/v2":
            return await self.serve_link(http)
        if http.path.startswith("/control/"):
            return await self._control(http)
        body, files = await _body(http)
        name, work, path = self._route(http)
        self.calls.append(
            Call(name, {**path, **http.query, **(body if isinstance(body, dict) else {})}, time.time())
        )
        self.notify()
        fault = self.faults.take(name)
        try:
            answer = await self._before(http, fault)
            if answer is not None:
                return answer
            result = self._work(
                http, name, work, Request(self, path, http.query, body, files, self._known, self.now)
            )
        except RefusalError as refusal:
            return _json({"code": refusal.code, "msg": refusal.message}, refusal.status)
        self.notify()
        if isinstance(result, bytes):
            return await _half(http, result) if isinstance(fault, DropAfter) else _bytes(result)
        if isinstance(fault, DropAfter):
            return _drop(http)
        return _json({"code": 0, "msg": "success", **result})

    def _route(self, http: web.BaseRequest) -> tuple[str, Handler | None, Mapping[str, str]]:
        if http.path == "/open-apis/auth/v3/tenant_access_token/internal":
            return "token", None, {}
        if http.path == "/callback/ws/endpoint":
            return "endpoint", None, {}
        for name, method, pattern, handler in self._routes:
            match = pattern.fullmatch(http.path)
            if match and method == http.method:
                return name, handler, match.groupdict()
        return "unknown", None, {}

    def _work(self, http: web.BaseRequest, name: str, work: Handler | None, request: Request) -> Any:
        if name == "token":
            return self._token(request.body)
        if name == "endpoint":
            return self._endpoint(request.body)
        if work is None:
            raise RefusalError(99991404, "not found", 404)
        self._check_token(http.headers.get("Authorization", ""))
        return work(request)

    def _token(self, body: Any) -> dict[str, Any]:
        if not isinstance(body, dict) or body.get("app_id") != self.app_id:
            raise RefusalError(10003, "invalid param", 200)
        if body.get("app_secret") != self.app_secret:
            raise RefusalError(10014, "app secret invalid", 200)
        token = f"t-g104{uuid.uuid4().hex.upper()}"
        self.tokens[token] = self.now() + self.token_seconds
        return {"tenant_access_token": token, "expire": self.token_seconds}

    def _endpoint(self, body: Any) -> dict[str, Any]:
        if not isinstance(body, dict) or not body.get("AppID") or not body.get("AppSecret"):
            raise RefusalError(1000040344, "no credential", 200)
        if (body["AppID"], body["AppSecret"]) != (self.app_id, self.app_secret):
            raise RefusalError(514, "auth failed", 200)
        return {"data": {"URL": self.new_address(self._port), "ClientConfig": self.client_config()}}

    def _check_token(self, header: str) -> None:
        if not header:
            raise RefusalError(99991661, "Missing access token for authorization.")
        kind, _, token = header.partition(" ")
        if kind != "Bearer" or self.tokens.get(token, 0) <= self.now():
            raise RefusalError(
                99991663, "Invalid access token for authorization. Please make a request with token attached."
            )

    async def _before(self, http: web.BaseRequest, fault: Fault | None) -> web.StreamResponse | None:
        """What a fault does before the request is obeyed; an answer means that it is not."""
        match fault:
            case Refuse(code, message, status, headers):
                return _json({"code": code, "msg": message}, status, headers)
            case RawAnswer(body, status):
                return web.Response(body=body, status=status, content_type="text/html")
            case DropBefore():
                return _drop(http)
            case Hang():
                await asyncio.Event().wait()
            case Slow(seconds):
                await asyncio.sleep(seconds)
        return None

    async def _control(self, http: web.BaseRequest) -> web.StreamResponse:
        """``say``: ``{"name", "text"[, "group"]}``, a person writes; ``sent``: what the bot answered."""
        if http.path == "/control/say":
            wanted = json.loads(await http.read())
            user = self.user(str(wanted["name"]))
            title = wanted.get("group")
            chat = next((one for one in self.chats.values() if one.title == title), None)
            chat = chat or (self.group(str(title)) if title else self.p2p(user))
            return _json({"message_id": self.say(chat, user, str(wanted["text"])).id, "chat_id": chat.id})
        shown = [
            {
                "method": sent.method,
                "chat_id": sent.chat_id,
                "message_id": sent.message_id,
                "reply_to": sent.reply_to,
                "kind": sent.kind,
                "text": sent.text,
                "file_name": sent.file_name,
                "accepted_at": sent.accepted_at,
            }
            for sent in self.sent
        ]
        return _json(shown)


async def _body(http: web.BaseRequest) -> tuple[Any, dict[str, UploadedFile]]:
    """JSON, or the fields and files of a form."""
    if not http.content_type.startswith("multipart/"):
        raw = await http.content.read()
        try:
            return (json.loads(raw) if raw else {}), {}
        except ValueError:
            return None, {}
    fields: dict[str, str] = {}
    files: dict[str, UploadedFile] = {}
    async for part in await http.multipart():
        assert isinstance(part, BodyPartReader)
        data = b"".join([chunk async for chunk in _chunks(part)])
        if part.filename is not None:
            files[part.name or ""] = UploadedFile(part.filename, data)
        else:
            fields[part.name or ""] = data.decode()
    return fields, files


async def _chunks(part: BodyPartReader) -> AsyncIterator[bytes]:
    while chunk := await part.read_chunk(262144):
        yield chunk


def _json(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.json_response(body, status=status, headers=headers)


def _bytes(data: bytes) -> web.Response:
    return web.Response(body=data, content_type="application/octet-stream")


def _drop(http: web.BaseRequest) -> web.Response:
    """Break the connection a request came on; the answer goes nowhere."""
    if http.transport is not None:
        http.transport.abort()
    return web.Response()


async def _half(http: web.BaseRequest, data: bytes) -> web.StreamResponse:
    """Promise a whole body, send half of it, and break off."""
    response = web.StreamResponse(headers={"Content-Length": str(len(data))})
    response.content_type = "application/octet-stream"
    await response.prepare(http)
    await response.write(data[: len(data) // 2])
    await asyncio.sleep(0.05)
    if http.transport is not None:
        http.transport.abort()
    return response
