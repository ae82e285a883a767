"""The HTTP side of the emulated Telegram: routes, encodings, faults, broken connections."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from tests.emulators.telegram.faults import (
    DropAfter,
    DropBefore,
    Fault,
    Faults,
    Hang,
    RawAnswer,
    Refuse,
    Slow,
)
from tests.emulators.telegram.methods import (
    METHODS,
    Polls,
    RawResult,
    RefusalError,
    Request,
    UploadedFile,
)
from tests.emulators.telegram.world import Call, Sent, User, World

TOKEN = "7100200300:AAE-x_emulated0123456789abcdefghijk"
BOT = User(7100200300, "Hart", "hart_team_bot", is_bot=True)


class TelegramEmulator(World):
    """``async with TelegramEmulator() as tg``: a Bot API server on 127.0.0.1, and its world.

    Args:
        port: Where to listen; 0 takes a free port.
        token: The one bot token that is known.
        bot: Who that bot is.
    """

    def __init__(self, port: int = 0, token: str = TOKEN, bot: User = BOT) -> None:
        super().__init__(bot)
        self.token = token
        self.faults = Faults()
        self._port = port
        self._polls = Polls()
        self._server: asyncio.Server | None = None
        self._state = ServerState()
        self._config = uvicorn.Config(
            self._application(), log_config=None, access_log=False, lifespan="off", timeout_keep_alive=75
        )
        self._config.load()

    @property
    def base_url(self) -> str:
        """Where the Bot API is."""
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        await self._listen()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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

    async def wait_until_heard(self, timeout: float = 10) -> None:
        """Wait until the bot has acknowledged all updates."""
        await self.wait_for(lambda: not self.updates, timeout)

    @property
    def polling(self) -> int:
        """How many polls are waiting for an answer; one whose caller has gone does not count."""
        return sum(
            isinstance(connection, H11Protocol)
            and connection.cycle is not None
            and not connection.cycle.response_complete
            and connection.scope["path"].endswith("/getUpdates")
            for connection in self._state.connections
        )

    def cut(self) -> None:
        """Break all connections; new ones can be made."""
        for connection in list(self._state.connections):
            connection.transport.abort()

    def serving(self) -> set["asyncio.Task[Any]"]:
        """Tasks that are the emulator's own; a poll is held although its caller has gone."""
        return set(self._state.tasks)

    async def _listen(self) -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self._port))
        self._port = listener.getsockname()[1]
        self._server = await asyncio.get_running_loop().create_server(
            lambda: _Connection(self._config, self._state, {}), sock=listener
        )

    async def _stop_listening(self) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        # The server learns of the broken connections in its next rounds, and then drops answers.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        tasks = list(self._state.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _application(self) -> Callable[[Scope, Receive, Send], Any]:
        starlette = Starlette(
            routes=[
                Route("/bot{token}/{method}", self._method, methods=["GET", "POST"]),
                Route("/file/bot{token}/{path:path}", self._file),
                Route("/control/say", self._control_say, methods=["POST"]),
                Route("/control/sent", self._control_sent),
            ],
            exception_handlers={404: _unknown_path},
        )

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            try:
                await starlette(scope, receive, send)
            except asyncio.CancelledError:
                return

        return application

    async def _method(self, http: HttpRequest) -> Response:
        params, files = await _parameters(http)
        name = http.path_params["method"]
        self.calls.append(Call(name, params, time.time()))
        self.notify()
        try:
            self._check_token(http.path_params["token"])
            fault = self.faults.take(name)
            answer = await self._before(http, fault)
            if answer is not None:
                return answer
            handler = METHODS.get(name)
            if handler is None:
                raise RefusalError(404, "Not Found: method not found")
            result = await handler(Request(self, params, files, self._polls))
        except RefusalError as refusal:
            return _refused(refusal)
        self.notify()
        if isinstance(fault, DropAfter):
            return await self._drop(http)
        encoded = result if isinstance(result, RawResult) else json.dumps(result).encode()
        return Response(b'{"ok":true,"result":' + encoded + b"}", media_type="application/json")

    async def _before(self, http: HttpRequest, fault: Fault | None) -> Response | None:
        """What a fault does before the request is obeyed; an answer means that it is not."""
        match fault:
            case Refuse(code, description, parameters):
                raise RefusalError(code, description, parameters)
            case RawAnswer(body, status):
                return Response(body, status)
            case DropBefore():
                return await self._drop(http)
            case Hang():
                return await _gone(http)
            case Slow(seconds):
                await asyncio.sleep(seconds)
        return None

    async def _file(self, http: HttpRequest) -> Response:
        self.calls.append(Call("file", {"path": http.path_params["path"]}, time.time()))
        try:
            self._check_token(http.path_params["token"])
            fault = self.faults.take("file")
            answer = await self._before(http, fault)
        except RefusalError as refusal:
            return _refused(refusal)
        if answer is not None:
            return answer
        for file in self.files.values():
            if file.path == http.path_params["path"]:
                break
        else:
            return _refused(RefusalError(404, "Not Found"))
        if isinstance(fault, DropAfter):
            return _HalfAnswer(file.data, lambda: self._drop(http))
        return Response(file.data, media_type="application/octet-stream")

    def _check_token(self, token: str) -> None:
        if ":" not in token:
            raise RefusalError(404, "Not Found")
        if token != self.token or self.revoked:
            raise RefusalError(401, "Unauthorized")

    async def _drop(self, http: HttpRequest) -> Response:
        """Break the connection a request came on."""
        for connection in list(self._state.connections):
            if isinstance(connection, H11Protocol) and connection.client == tuple(http.scope["client"]):
                connection.transport.abort()
        return await _gone(http)

    async def _control_say(self, http: HttpRequest) -> Response:
        """``{"user_id", "name", "text"[, "chat_id"]}``: a person writes, in private or in a group."""
        wanted = await http.json()
        user = self.user(int(wanted["user_id"]), str(wanted.get("name", "Someone")))
        group = self.chats.get(int(wanted.get("chat_id", 0)))
        return JSONResponse(self.say(group or self.private_chat(user), user, str(wanted["text"])))

    async def _control_sent(self, http: HttpRequest) -> Response:
        """All messages of the bot, without file contents."""
        return JSONResponse(
            [
                {
                    "method": sent.method,
                    "chat_id": sent.chat_id,
                    "message_id": sent.message_id,
                    "text": sent.text,
                    "file_name": sent.file_name,
                    "accepted_at": sent.accepted_at,
                }
                for sent in self.sent
            ]
        )


class _Connection(H11Protocol):
    """Without an access log, which would show the token that the bot itself takes care to hide."""

    def __init__(self, config: uvicorn.Config, state: ServerState, app_state: dict[str, Any]) -> None:
        super().__init__(config, state, app_state)
        self.access_log = False


class _HalfAnswer(Response):
    """Promises a whole body, sends half of it, and breaks off."""

    def __init__(self, body: bytes, drop: Callable[[], Any]) -> None:
        super().__init__(body, media_type="application/octet-stream")
        self._drop = drop

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        half = self.body[: len(self.body) // 2]
        await send({"type": "http.response.body", "body": half, "more_body": True})
        await asyncio.sleep(0.05)
        await self._drop()


async def _gone(http: HttpRequest) -> Response:
    """Wait until the other side, or we, have broken the connection; the answer goes nowhere."""
    while (await http.receive())["type"] != "http.disconnect":
        continue
    return Response()


async def _parameters(http: HttpRequest) -> tuple[dict[str, Any], dict[str, UploadedFile]]:
    """Parameters from the query, a form, a multipart form or JSON."""
    params: dict[str, Any] = dict(http.query_params)
    files: dict[str, UploadedFile] = {}
    kind = http.headers.get("content-type", "")
    if kind.startswith("application/json"):
        params |= await http.json()
    elif kind:
        async with http.form() as form:
            for name, value in form.items():
                if isinstance(value, UploadFile):
                    files[name] = UploadedFile(value.filename or "", await value.read())
                else:
                    params[name] = value
    return params, files


async def _unknown_path(http: HttpRequest, error: Exception) -> Response:
    return _refused(RefusalError(404, "Not Found"))


def _refused(refusal: RefusalError) -> Response:
    body: dict[str, Any] = {"ok": False, "error_code": refusal.code, "description": refusal.description}
    if refusal.parameters:
        body["parameters"] = refusal.parameters
    return JSONResponse(body, refusal.code)
