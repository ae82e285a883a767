"""The Web API behind one method, and files, over one HTTP session.

The tokens are put into requests below everything that logs, reports or wraps errors: the SDK sees a
placeholder in their place. They are put only into requests to hosts of Slack.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import aiohttp
from aiohttp import ClientHandlerType, ClientRequest, ClientResponse, ClientSession
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from channels.slack.api import (
    ApiCall,
    ApiError,
    BrokenError,
    Download,
    Encoding,
    GarbledError,
    Json,
    NotSentError,
    OutsideError,
    RefusedError,
    Token,
)

SDK_LOG = logging.getLogger("channels.slack.sdk")
"""What the SDK logs to. It reports every failure that we report too, and at DEBUG every message."""
SDK_LOG.setLevel(logging.CRITICAL)

PLACEHOLDERS = {Token.BOT: "xoxb-placeholder", Token.APP: "xapp-placeholder"}
"""What the SDK knows as our tokens."""

_NEVER_LEFT = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.InvalidURL,
    aiohttp.ClientProxyConnectionError,
)
_CONNECT_SECONDS = 10.0
_KEEPALIVE_SECONDS = 5.0
_UPLOAD_PATIENCE = 4
_MOST_REDIRECTS = 5
_CHUNK = 65536
_MOST_WORDS = 1000
_TAKEN = '{"ok":true}'
_WORD = re.compile(r"[a-z_]{1,60}")
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_SLACK_DOMAINS = ("slack.com", "slack-files.com", "slack-gov.com")


def is_loopback(url: str) -> bool:
    """True for addresses on this machine, which no proxy is asked for."""
    return (urlsplit(url).hostname or "") in _LOOPBACK


def may_have_token(url: str, base_url: str) -> bool:
    """True for addresses that our tokens may be sent to: the configured server, and Slack's own.

    Slack's own are no part of it when the server is on this machine, as an emulator is.
    """
    there, here = urlsplit(url), urlsplit(base_url)
    if (there.scheme, there.netloc) == (here.scheme, here.netloc):
        return True
    host = (there.hostname or "").lower()
    ours = any(host == domain or host.endswith(f".{domain}") for domain in _SLACK_DOMAINS)
    return ours and there.scheme == "https" and not is_loopback(base_url)


class SlackClient:
    """Calls of the Web API for one app in one workspace.

    Args:
        tokens: Our tokens. They are in no log line, error or ``repr``.
        base_url: Where the Web API is, such as ``https://slack.com/api/``.
        response_seconds: How long an answer may take.
    """

    def __init__(self, tokens: Mapping[Token, str], base_url: str, response_seconds: float) -> None:
        self._base_url = base_url
        self._response_seconds = response_seconds
        self._bearers = {_bearer(PLACEHOLDERS[kind]): _bearer(token) for kind, token in tokens.items()}
        self._session: ClientSession | None = None
        # No retries behind our back: a message that was taken without an answer would be posted twice.
        self._web = AsyncWebClient(
            token=PLACEHOLDERS[Token.BOT], base_url=base_url, logger=SDK_LOG, retry_handlers=[]
        )
        self._web.proxy = None

    async def call(self, call: ApiCall) -> dict[str, Any]:
        """Call a method; see :class:`~channels.slack.api.SlackApi`."""
        self._web.session = self._open_session()
        headers = {"Authorization": _bearer(PLACEHOLDERS[call.token])}
        given: dict[str, Any]
        match call.encoding:
            case Encoding.JSON:
                given = {"json": dict(call.params)}
            case Encoding.FORM:
                given = {"data": _as_form(call.params)}
            case Encoding.QUERY:
                given = {"params": _as_form(call.params), "http_verb": "GET"}
        try:
            async with asyncio.timeout(_CONNECT_SECONDS + 2 * self._response_seconds):
                response = await self._web.api_call(call.method, headers=headers, **given)
        except SlackApiError as error:
            raise _refusal(error.response) from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _connection_fault(error) from None
        except (AttributeError, ValueError, RecursionError):
            # What the SDK stumbles over when an answer is JSON but no object, or no JSON at all.
            raise GarbledError("the answer is not what the Web API answers") from None
        answer = response.data
        if not isinstance(answer, dict):
            raise GarbledError("the answer is not what the Web API answers")
        return answer

    async def upload(self, url: str, path: Path) -> None:
        """Post a file's bytes; see :class:`~channels.slack.api.SlackApi`."""
        timeout = aiohttp.ClientTimeout(
            total=None, connect=_CONNECT_SECONDS, sock_read=self._response_seconds * _UPLOAD_PATIENCE
        )
        handle = await asyncio.to_thread(path.open, "rb")
        with handle:
            try:
                async with self._open_session().post(
                    url, data=handle, timeout=timeout, allow_redirects=False
                ) as response:
                    if response.status != 200:
                        raise _refused_by(response)
                    await response.read()
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                raise _connection_fault(error) from None

    async def respond(self, url: str, message: Mapping[str, Json]) -> None:
        """Post to a response URL; see :class:`~channels.slack.api.SlackApi`."""
        if not may_have_token(url, self._base_url):
            raise OutsideError("the response URL is none of Slack's")
        try:
            async with self._open_session().post(url, json=message, allow_redirects=False) as response:
                said = (await response.content.read(_MOST_WORDS)).decode("utf-8", "replace").strip()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _connection_fault(error) from None
        word = said if _WORD.fullmatch(said) else ""
        if response.status == 200 and not word and said != _TAKEN:
            raise GarbledError("the answer is not what a response URL answers")
        if response.status != 200 or word not in ("ok", ""):
            raise RefusedError(
                response.status, word, retry_after=_seconds(response.headers.get("Retry-After"))
            )

    @asynccontextmanager
    async def open_file(self, url: str) -> AsyncIterator[Download]:
        """Receive a file; see :class:`~channels.slack.api.SlackApi`."""
        if not may_have_token(url, self._base_url):
            raise OutsideError("the file does not lie with Slack")
        try:
            response = await self._follow(url)
            async with response:
                if response.status != 200:
                    raise _refused_by(response)
                disposition = response.headers.get("Content-Disposition", "")
                yield Download(
                    str(response.url),
                    response.content_type.lower(),
                    disposition.lower().startswith("attachment"),
                    _chunks(response),
                )
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _connection_fault(error) from None

    async def _follow(self, url: str) -> ClientResponse:
        """Go where Slack points, by hand, so that the token stays where it may be."""
        first = urlsplit(url).netloc
        bearer: dict[str, str] = {"Authorization": _bearer(PLACEHOLDERS[Token.BOT])}
        for _ in range(_MOST_REDIRECTS):
            headers = bearer if urlsplit(url).netloc == first else {}
            response = await self._open_session().get(
                url, headers={"Accept-Encoding": "identity", **headers}, allow_redirects=False
            )
            target = response.headers.get("Location")
            if response.status not in (301, 302, 303, 307, 308) or target is None:
                return response
            response.release()
            url = urljoin(url, target)
            if not _may_follow(url, self._base_url):
                raise OutsideError("the file does not lie with Slack")
        raise OutsideError("too many redirects")

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    def _open_session(self) -> ClientSession:
        # Made on first use: a session belongs to the loop that runs by then.
        if self._session is None or self._session.closed:
            self._session = ClientSession(
                connector=aiohttp.TCPConnector(limit=64, keepalive_timeout=_KEEPALIVE_SECONDS),
                timeout=aiohttp.ClientTimeout(
                    total=None, connect=_CONNECT_SECONDS, sock_read=self._response_seconds
                ),
                trust_env=not is_loopback(self._base_url),
                middlewares=(self._put_token,),
            )
        return self._session

    async def _put_token(self, request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        """Put the real token where the placeholder stands, on the way out."""
        placeholder = request.headers.get("Authorization")
        if placeholder is not None:
            bearer = self._bearers.get(placeholder)
            if bearer is not None and may_have_token(str(request.url), self._base_url):
                request.headers["Authorization"] = bearer
            else:
                del request.headers["Authorization"]
        return await handler(request)


async def _chunks(response: ClientResponse) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.content.iter_chunked(_CHUNK):
            yield chunk
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise _connection_fault(error) from None


def _bearer(token: str) -> str:
    return f"Bearer {token}"


def _as_form(params: Mapping[str, Json]) -> dict[str, str]:
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in params.items()
    }


def _may_follow(url: str, base_url: str) -> bool:
    """Slack may point elsewhere, but not to what is in the clear, unless the server itself is."""
    parts = urlsplit(url)
    return bool(parts.hostname) and parts.scheme in {"https", urlsplit(base_url).scheme}


def _refusal(response: AsyncSlackResponse | ClientResponse) -> ApiError:
    """What the SDK's error holds: its own response, or aiohttp's for what is not JSON."""
    if isinstance(response, ClientResponse):
        status, data = response.status, None
    else:
        status, data = response.status_code, response.data
    retry_after = _seconds(response.headers.get("Retry-After"))
    match data:
        case {"ok": False, "error": str(error), **rest}:
            needed = rest.get("needed")
            return RefusedError(
                status,
                error[:100],
                retry_after=retry_after,
                needed=needed[:100] if isinstance(needed, str) else None,
            )
    if status == 200:
        return GarbledError("the answer is not what the Web API answers")
    return RefusedError(status, "", retry_after=retry_after)


def _refused_by(response: ClientResponse) -> RefusedError:
    return RefusedError(response.status, "", retry_after=_seconds(response.headers.get("Retry-After")))


def _seconds(header: str | None) -> float | None:
    return float(header) if header is not None and header.isascii() and header.isdigit() else None


def _connection_fault(error: BaseException) -> ApiError:
    text = type(error).__name__
    return NotSentError(text) if isinstance(error, _NEVER_LEFT) else BrokenError(text)
