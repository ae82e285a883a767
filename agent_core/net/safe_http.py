"""An HTTP client for addresses that strangers may choose."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpcore
import httpx

from agent_core.net.body import ACCEPT_ENCODING, BoundedBody, too_large
from agent_core.net.errors import FetchFailedError, FetchRefusedError
from agent_core.net.guard import (
    HostPort,
    PublicNetworkBackend,
    Resolver,
    check_url,
    shown_url,
    system_resolver,
)

MAX_REDIRECTS = 5
"""How often a page may send us on."""

MAX_CONNECTIONS = 20
"""Connections open at one time; more wait."""

STEP_TIMEOUT = 10.0
"""Seconds for each connect, read or write, within the time for the whole."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HARMLESS = frozenset({"accept", "accept-language", "if-modified-since", "if-none-match", "user-agent"})


@dataclass(frozen=True, slots=True)
class Fetched:
    """A response.

    Args:
        url: Where it came from in the end, after redirects.
        status: HTTP status code; errors of the server are not raised.
        headers: Response headers, names in lower case; of repeated ones the last.
        body: The decoded body.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class SafeHttp:
    """Fetches pages from the public internet and refuses everything else: private, local and link-local
    addresses in any spelling, names that lead there, redirects that lead there, other ports, other schemes.

    It keeps no cookies, reads no proxy or credential from the environment, and looks every name up anew for
    every request. One object serves the whole process.

    Args:
        resolve: Finds the addresses of a name.
        allow: Hosts with ports the operator has opened although they would be refused. A page outside may
            redirect to them.
        tls: Certificates to trust; the usual public ones if not given.
    """

    def __init__(
        self,
        resolve: Resolver = system_resolver,
        allow: Collection[HostPort] = (),
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._allow = frozenset(allow)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls or httpx.create_ssl_context(trust_env=False),
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=0,
            network_backend=PublicNetworkBackend(resolve, self._allow),
        )

    async def get(
        self,
        url: str,
        max_bytes: int = 2_000_000,
        timeout: float = 20.0,
        headers: Mapping[str, str] | None = None,
    ) -> Fetched:
        """Fetch a page.

        Args:
            url: Where from; any text.
            max_bytes: The most its body may have, decoded.
            timeout: Seconds for everything together, redirects included.
            headers: Request headers. Over a redirect to another host only harmless ones go along.

        Raises:
            FetchRefusedError: The address, or one it redirects to, may not be reached.
            FetchFailedError: It could not be fetched, or is too large.
        """
        try:
            async with asyncio.timeout(timeout):
                return await self._follow(check_url(url, self._allow), max_bytes, dict(headers or {}))
        except (TimeoutError, httpcore.TimeoutException) as error:
            raise FetchFailedError(f"{shown_url(url)} did not answer in time.") from error
        except (httpcore.NetworkError, httpcore.ProtocolError) as error:
            raise FetchFailedError(f"{shown_url(url)} could not be fetched: {_reason(error)}.") from error

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()

    async def _follow(self, url: httpx.URL, max_bytes: int, headers: dict[str, str]) -> Fetched:
        for _ in range(MAX_REDIRECTS + 1):
            async with self._send(url, headers) as response:
                got = _read_headers(response)
                location = got.get("location")
                if response.status not in _REDIRECTS or location is None:
                    body = await _read_body(response, got, max_bytes)
                    return Fetched(str(url), response.status, got, body)
            target = self._redirected(url, location)
            if (target.scheme, target.raw_host, target.port) != (url.scheme, url.raw_host, url.port):
                headers = {name: value for name, value in headers.items() if name.lower() in _HARMLESS}
            url = target
        raise FetchFailedError(f"The page redirects more than {MAX_REDIRECTS} times.")

    def _redirected(self, url: httpx.URL, location: str) -> httpx.URL:
        try:
            return check_url(str(url.join(location)), self._allow)
        except httpx.InvalidURL as error:
            raise FetchRefusedError("The page redirects to an unusable address.") from error
        except FetchRefusedError as error:
            raise FetchRefusedError(f"The page redirects to an address that is refused. {error}") from error

    @asynccontextmanager
    async def _send(self, url: httpx.URL, headers: Mapping[str, str]) -> AsyncIterator[httpcore.Response]:
        fixed = {"user-agent": "Hart", "accept": "*/*"} | {
            name.lower(): value for name, value in headers.items()
        }
        fixed |= {
            "host": url.netloc.decode("ascii"),
            "accept-encoding": ACCEPT_ENCODING,
            "connection": "close",
        }
        address = httpcore.URL(
            scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path.partition(b"#")[0]
        )
        steps = dict.fromkeys(("connect", "read", "write", "pool"), STEP_TIMEOUT)
        async with self._pool.stream(
            "GET", address, headers=list(fixed.items()), extensions={"timeout": steps}
        ) as response:
            yield response


def _read_headers(response: httpcore.Response) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}


async def _read_body(response: httpcore.Response, headers: Mapping[str, str], max_bytes: int) -> bytes:
    declared = headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > max_bytes:
        raise too_large(max_bytes)
    body = BoundedBody(headers.get("content-encoding", ""), max_bytes)
    async for chunk in response.aiter_stream():
        body.add(chunk)
    return body.whole()


def _reason(error: Exception) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "its certificate is not valid"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpcore.ConnectError):
        return "no connection could be made"
    return "the connection broke off or the answer made no sense"
