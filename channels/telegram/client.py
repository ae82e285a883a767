"""The Bot API behind one method. The only module that imports the SDK.

The token is put into the URL below everything that logs, reports or wraps errors: the SDK and httpx
see the word ``TOKEN`` in its place. httpx logs each URL, and the SDK logs its base URL.
"""

import asyncio
import ssl
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from json import loads
from typing import IO, Any, Literal
from urllib.parse import quote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx
from pydantic import BaseModel, ValidationError
from telegram import Bot, InputFile
from telegram.error import NetworkError, TelegramError
from telegram.request import BaseRequest, HTTPXRequest, RequestData
from telegram.warnings import PTBUserWarning

from channels.telegram.api import ApiCall, ApiError, BrokenError, GarbledError, NotSentError, RefusedError

# The SDK would rather have its typed methods called; those parse every answer, and one update it
# cannot parse would make a whole batch unreadable.
warnings.filterwarnings("ignore", message=r"Please use 'Bot\.", category=PTBUserWarning)

_PLACEHOLDER = "TOKEN"
_NEVER_LEFT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)
_POOL_SIZE = 64
_POOL_SECONDS = 10.0
_UPLOAD_PATIENCE = 4
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class TelegramClient:
    """Calls of the Bot API for one bot.

    Long polls have connections of their own, so that no send waits behind one.

    Args:
        token: The bot's token.
        base_url: Where the Bot API is, such as ``https://api.telegram.org``.
        response_seconds: How long an answer may take.
    """

    def __init__(self, token: str, base_url: str, response_seconds: float) -> None:
        base = base_url.rstrip("/")
        proxy = environment_proxy(base)
        trust = httpx.create_ssl_context()
        self._response_seconds = response_seconds
        self._files_url = f"{base}/file/bot{_PLACEHOLDER}"
        self._calls, self._polls = (
            _Request(
                connection_pool_size=_POOL_SIZE,
                pool_timeout=_POOL_SECONDS,
                read_timeout=response_seconds,
                httpx_kwargs={"transport": _TokenTransport(token, base, trust, proxy)},
            )
            for _ in range(2)
        )
        self._files = httpx.AsyncClient(
            transport=_TokenTransport(token, base, trust, proxy),
            timeout=httpx.Timeout(response_seconds, pool=_POOL_SECONDS),
            headers={"Accept-Encoding": "identity"},
        )
        self._bot = Bot(
            _PLACEHOLDER,
            base_url=f"{base}/bot",
            base_file_url=f"{base}/file/bot",
            request=self._calls,
            get_updates_request=self._polls,
        )

    async def call(self, call: ApiCall, *, wait_seconds: float = 0) -> Any:
        """Call a method; see :class:`~channels.telegram.api.BotApi`."""
        # Telegram answers an upload only when it has stored the file.
        read_seconds = wait_seconds + self._response_seconds * (_UPLOAD_PATIENCE if call.upload else 1)
        params: dict[str, Any] = dict(call.params)
        handle = await asyncio.to_thread(call.upload.path.open, "rb") if call.upload else None
        with handle or nullcontext():
            if call.upload and handle:
                params[call.upload.field] = _input_file(handle, call.upload.name, call.upload.mime)
            try:
                return await self._bot.do_api_request(
                    call.method, api_kwargs=params, read_timeout=read_seconds
                )
            except _CarrierError as carrier:
                raise carrier.fault from None
            except TelegramError as error:
                # What is left are faults inside the HTTP client, at an unknown point of the way.
                raise BrokenError(str(error)) from None

    @asynccontextmanager
    async def open_file(self, file_path: str) -> AsyncIterator[AsyncIterator[bytes]]:
        """A file's bytes as they arrive; see :class:`~channels.telegram.api.BotApi`."""
        try:
            async with self._files.stream("GET", f"{self._files_url}/{quote(file_path)}") as response:
                if response.status_code != httpx.codes.OK:
                    raise RefusedError(response.status_code, "file download refused", from_platform=False)
                yield response.aiter_raw(65536)
        except httpx.HTTPError as error:
            raise _connection_fault(error) from None

    async def close(self) -> None:
        """Close all connections."""
        await self._calls.shutdown()
        await self._polls.shutdown()
        await self._files.aclose()


class _CarrierError(TelegramError):
    """Takes one of our faults through the SDK, which lets its own errors pass unchanged."""

    def __init__(self, fault: ApiError) -> None:
        super().__init__(str(fault))
        self.fault = fault


class _Request(HTTPXRequest):
    """The SDK's HTTP client, with errors that keep what matters for a retry.

    The SDK itself folds connection faults, gateway errors and garbled answers into one class.
    """

    __slots__ = ()

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        write_timeout: Any = BaseRequest.DEFAULT_NONE,
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        try:
            status, payload = await super().do_request(
                url, method, request_data, read_timeout, write_timeout, connect_timeout, pool_timeout
            )
        except NetworkError as error:
            raise _CarrierError(_connection_fault(error.__cause__ or error)) from None
        if not httpx.codes.is_success(status):
            raise _CarrierError(_refusal(status, payload))
        return status, payload

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        text = payload.decode("utf-8", "replace")
        try:
            answer = loads(text)
        except (ValueError, RecursionError):
            raise _CarrierError(GarbledError(text)) from None
        if not isinstance(answer, dict) or "result" not in answer:
            raise _CarrierError(GarbledError(text))
        return answer


class _TokenTransport(httpx.AsyncBaseTransport):
    """Puts the token where the placeholder stands, on the way out."""

    def __init__(self, token: str, base: str, trust: ssl.SSLContext, proxy: str | None) -> None:
        path = urlsplit(base).path
        self._real_paths = {
            f"{path}{root}{_PLACEHOLDER}/".encode(): f"{path}{root}{quote(token, safe=':')}/".encode()
            for root in ("/bot", "/file/bot")
        }
        limits = httpx.Limits(max_connections=_POOL_SIZE)
        self._inner = httpx.AsyncHTTPTransport(verify=trust, limits=limits, proxy=proxy)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        for shown, real in self._real_paths.items():
            if url.raw_path.startswith(shown):
                url = url.copy_with(raw_path=real + url.raw_path.removeprefix(shown))
                break
        return await self._inner.handle_async_request(
            httpx.Request(
                request.method,
                url,
                headers=request.headers,
                stream=request.stream,
                extensions=request.extensions,
            )
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


class _ErrorParameters(BaseModel):
    retry_after: int | None = None
    migrate_to_chat_id: int | None = None


class _ErrorBody(BaseModel):
    """An error as the Bot API answers it."""

    ok: Literal[False]
    description: str = ""
    parameters: _ErrorParameters = _ErrorParameters()


def _refusal(status: int, payload: bytes) -> RefusedError:
    try:
        body = _ErrorBody.model_validate_json(payload)
    except ValidationError:
        return RefusedError(status, "no Bot API answer", from_platform=False)
    return RefusedError(
        status,
        body.description[:300],
        from_platform=True,
        retry_after=body.parameters.retry_after,
        migrate_to=body.parameters.migrate_to_chat_id,
    )


def _connection_fault(error: BaseException) -> ApiError:
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    return NotSentError(text) if isinstance(error, _NEVER_LEFT) else BrokenError(text)


def _input_file(handle: IO[bytes], name: str, mime: str) -> InputFile:
    # read_file_handle=False streams the file; the SDK would otherwise hold all of it in memory.
    file = InputFile(handle, filename=name, read_file_handle=False)
    file.mimetype = mime
    return file


def environment_proxy(base: str) -> str | None:
    """The proxy that the environment names for this server.

    httpx looks it up itself only as long as it makes its own transport.
    """
    parts = urlsplit(base)
    host = parts.hostname or ""
    if host in _LOOPBACK or proxy_bypass(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy
