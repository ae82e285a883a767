"""The open platform behind a few methods, on one shared HTTP client. The only module that imports it."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import IO, Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
from pydantic import SecretStr

from channels.feishu.api import (
    TOKEN_CODES,
    ApiCall,
    ApiError,
    BrokenError,
    Endpoint,
    GarbledError,
    Link,
    NotSentError,
    RefusedError,
)
from channels.feishu.link import WebSocketLink
from channels.feishu.tokens import Token, TokenCache

TOKEN_PATH = "/open-apis/auth/v3/tenant_access_token/internal"  # noqa: S105 - a path, not a token
ENDPOINT_PATH = "/callback/ws/endpoint"

_CONNECTIONS = 64
_CONNECT_SECONDS = 10.0
_UPLOAD_PATIENCE = 4
_MOST_ANSWER_BYTES = 16 * 1024 * 1024
_LARGEST_FRAME = 4 * 1024 * 1024
_DEFAULT_PING_SECONDS = 120.0  # the platform's own SDKs
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_CONNECTION_ERRORS = (aiohttp.ClientError, TimeoutError, OSError)
_NEVER_LEFT = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.InvalidURL,
    aiohttp.NonHttpUrlClientError,
)


class FeishuClient:
    """Calls of the open platform for one app.

    Args:
        app_id: The app.
        app_secret: Its secret. It is in no log line, error or ``repr``.
        base_url: The server, such as ``https://open.feishu.cn``.
        response_seconds: How long an answer may take.
        monotonic: Seconds that only grow.
    """

    def __init__(
        self,
        app_id: str,
        app_secret: str,
        base_url: str,
        response_seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app_id = app_id
        self._app_secret = SecretStr(app_secret)
        self._base = base_url.rstrip("/")
        self._response_seconds = response_seconds
        self._tokens = TokenCache(self._fetch_token, monotonic)
        self._http: aiohttp.ClientSession | None = None

    async def call(self, call: ApiCall) -> dict[str, Any]:
        """Make a call with the app's token; see :class:`~channels.feishu.api.OpenApi`."""
        token = await self._tokens.get()
        try:
            return await self._call(call, token)
        except RefusedError as refused:
            if refused.code not in TOKEN_CODES:
                raise
        # A request with a token that is not taken is not obeyed, so it can be made again.
        self._tokens.forget(token)
        return await self._call(call, await self._tokens.get())

    async def check_credentials(self) -> None:
        """Get a new token; see :class:`~channels.feishu.api.OpenApi`."""
        await self._tokens.renew()

    @asynccontextmanager
    async def open_resource(self, call: ApiCall) -> AsyncIterator[AsyncIterator[bytes]]:
        """A file's bytes as they arrive; see :class:`~channels.feishu.api.OpenApi`."""
        token = await self._tokens.get()
        try:
            response = await self._session().request(
                call.method, self._base + call.path, params=call.query, headers=_authorized(token)
            )
        except _CONNECTION_ERRORS as error:
            raise connection_fault(error) from None
        async with response:
            if response.status != 200 or response.content_type == "application/json":
                refused = await _refusal(response)
                if refused.code in TOKEN_CODES:
                    self._tokens.forget(token)
                raise refused
            yield _chunks(response)

    async def endpoint(self) -> Endpoint:
        """Ask where to connect; see :class:`~channels.feishu.api.OpenApi`."""
        answer = await self._post_secret(ENDPOINT_PATH, "AppID", "AppSecret")
        match answer.get("data"):
            case {"URL": str(url), **more}:
                return _endpoint(url, more.get("ClientConfig"), secure=self._base.startswith("https:"))
        raise GarbledError("the endpoint method gave no address")

    async def open_link(self, endpoint: Endpoint) -> Link:
        """Open a long connection; see :class:`~channels.feishu.api.OpenApi`."""
        try:
            async with asyncio.timeout(_CONNECT_SECONDS + self._response_seconds):
                socket = await self._session().ws_connect(
                    endpoint.url,
                    autoping=False,
                    max_msg_size=_LARGEST_FRAME,
                    timeout=aiohttp.ClientWSTimeout(ws_close=1.0),
                )
        except aiohttp.WSServerHandshakeError as error:
            raise _handshake_refusal(error) from None
        except _CONNECTION_ERRORS as error:
            raise connection_fault(error) from None
        return WebSocketLink(socket)

    async def close(self) -> None:
        """Close all connections."""
        if self._http is not None:
            await self._http.close()

    def _session(self) -> aiohttp.ClientSession:
        # Made late, because it belongs to the event loop it is made in.
        if self._http is None:
            self._http = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=_CONNECTIONS),
                timeout=self._timeout(1),
                trust_env=urlsplit(self._base).hostname not in _LOOPBACK,
            )
        return self._http

    def _timeout(self, patience: int) -> aiohttp.ClientTimeout:
        return aiohttp.ClientTimeout(
            total=None,
            connect=2 * _CONNECT_SECONDS,
            sock_connect=_CONNECT_SECONDS,
            sock_read=self._response_seconds * patience,
        )

    async def _call(self, call: ApiCall, token: Token) -> dict[str, Any]:
        if call.upload is None:
            return await self._exchange(call, token, json=call.body)
        with await asyncio.to_thread(call.upload.path.open, "rb") as file:
            return await self._exchange(call, token, data=_form(call, file))

    async def _exchange(self, call: ApiCall, token: Token, **content: Any) -> dict[str, Any]:
        # The platform answers an upload only when it has stored the file.
        timeout = self._timeout(_UPLOAD_PATIENCE if call.upload else 1)
        try:
            async with self._session().request(
                call.method,
                self._base + call.path,
                params=call.query,
                headers=_authorized(token),
                timeout=timeout,
                allow_redirects=False,
                **content,
            ) as response:
                return await _answer(response)
        except _CONNECTION_ERRORS as error:
            raise connection_fault(error) from None

    async def _post_secret(self, path: str, id_field: str, secret_field: str) -> dict[str, Any]:
        try:
            async with self._session().post(
                self._base + path,
                json={id_field: self._app_id, secret_field: self._app_secret.get_secret_value()},
                headers={"locale": "en"},
                allow_redirects=False,
            ) as response:
                return await _answer(response)
        except _CONNECTION_ERRORS as error:
            raise connection_fault(error) from None

    async def _fetch_token(self) -> Token:
        match await self._post_secret(TOKEN_PATH, "app_id", "app_secret"):
            case {"tenant_access_token": str(value), "expire": int(lifetime)} if value.isascii() and value:
                return Token(value, float(lifetime))
        raise GarbledError("the token method gave no token")


def connection_fault(error: BaseException) -> ApiError:
    """What broke, without the addresses that the HTTP client puts into its errors."""
    text = type(error).__name__
    if (
        isinstance(error, OSError)
        and error.strerror
        and not isinstance(error, aiohttp.ClientConnectorDNSError)
    ):
        text = f"{text}: {error.strerror}"
    return NotSentError(text) if isinstance(error, _NEVER_LEFT) else BrokenError(text)


def _authorized(token: Token) -> dict[str, str]:
    return {"Authorization": f"Bearer {token.value}"}


def _form(call: ApiCall, file: IO[bytes]) -> aiohttp.FormData:
    assert call.upload is not None
    # Names go out as they are: percent signs would reach people.
    form = aiohttp.FormData(quote_fields=False)
    for name, value in (call.body or {}).items():
        form.add_field(name, str(value))
    form.add_field(call.upload.field, file, filename=call.upload.name, content_type=call.upload.mime)
    return form


async def _answer(response: aiohttp.ClientResponse) -> dict[str, Any]:
    """The answer's JSON.

    Raises:
        RefusedError: It is an error.
        GarbledError: It claims success, but is none of the platform's answers.
    """
    body = await _json_object(response)
    code = body.get("code") if body is not None else None
    if response.status == 200 and body is not None and code == 0:
        return body
    if response.status == 200 and type(code) is not int:
        raise GarbledError("the answer is not the platform's JSON")
    raise _refused(response, body)


async def _refusal(response: aiohttp.ClientResponse) -> RefusedError:
    try:
        return _refused(response, await _json_object(response))
    except _CONNECTION_ERRORS as error:
        raise connection_fault(error) from None


async def _chunks(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """The body as it arrives. Its faults are told apart here from those of whoever uses the bytes."""
    try:
        async for chunk in response.content.iter_chunked(65536):
            yield chunk
    except _CONNECTION_ERRORS as error:
        raise connection_fault(error) from None


def _refused(response: aiohttp.ClientResponse, body: Mapping[str, Any] | None) -> RefusedError:
    code = body.get("code") if body is not None else None
    if body is None or type(code) is not int:
        return RefusedError(response.status, 0, "no answer of the platform", _reset_seconds(response))
    message = body.get("msg")
    shown = message[:300] if isinstance(message, str) else ""
    return RefusedError(response.status, code, shown, _reset_seconds(response))


async def _json_object(response: aiohttp.ClientResponse) -> dict[str, Any] | None:
    received = bytearray()
    async for chunk in response.content.iter_chunked(65536):
        received += chunk
        if len(received) > _MOST_ANSWER_BYTES:
            return None
    try:
        body = json.loads(received)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _reset_seconds(response: aiohttp.ClientResponse) -> float | None:
    for name in ("x-ogw-ratelimit-reset", "Retry-After"):
        value = response.headers.get(name, "")
        if value.isascii() and value.isdecimal() and len(value) < 7:
            return float(value)
    return None


def _endpoint(url: str, config: object, *, secure: bool) -> Endpoint:
    parts = urlsplit(url)
    if parts.scheme != "wss" and (secure or parts.scheme != "ws"):
        raise GarbledError("the endpoint method gave no secure address")
    service = parse_qs(parts.query).get("service_id", [""])[0]
    if not (service.isascii() and service.isdecimal() and len(service) < 10):
        raise GarbledError("the endpoint method gave no service id")
    ping = config.get("PingInterval") if isinstance(config, dict) else None
    seconds = float(ping) if type(ping) is int and 0 < ping <= 3600 else _DEFAULT_PING_SECONDS
    return Endpoint(url, int(service), seconds)


def _handshake_refusal(error: aiohttp.WSServerHandshakeError) -> RefusedError:
    """Why the platform did not open the connection; it says so in headers."""
    headers: Mapping[str, str] = error.headers or {}
    code = headers.get("Handshake-Autherrcode") or headers.get("Handshake-Status") or ""
    known = code.isascii() and code.isdecimal() and len(code) < 12
    message = headers.get("Handshake-Msg", "the connection was not opened")[:300]
    return RefusedError(error.status, int(code) if known else 0, message)
