"""The gate every connection goes through: it resolves a name once, judges all answers, and connects to one
of the judged addresses, so that a second look-up can never lead elsewhere."""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from ipaddress import ip_address

import httpcore
import httpx

from agent_core.net.addresses import is_public, written_address
from agent_core.net.errors import FetchFailedError, FetchRefusedError

MAX_URL = 2_000
"""Characters of a URL."""

OPEN_PORTS = frozenset({80, 443})
"""Ports that may be reached on any public host."""

HostPort = tuple[str, int]
"""A host as a URL spells it (lower case, no brackets) and a port."""

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Finds the addresses of a name for a port. Raises ``OSError`` when there are none."""

_USER = re.compile(r"//[^/?#]*@")

_SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """Ask the operating system."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(sockaddr[0]) for *_, sockaddr in found]


def shown_url(url: str) -> str:
    """A URL for a message: quoted, short, without user, password, query and fragment, which may be secret."""
    return repr(re.split(r"[?#]", _USER.sub("//", url), maxsplit=1)[0][:100])


def check_url(url: str, allow: Collection[HostPort] = ()) -> httpx.URL:
    """Judge a URL by its looks. What its name leads to is judged on connecting.

    Args:
        url: Any text.
        allow: Hosts with ports the operator has opened although they would be refused.

    Raises:
        FetchRefusedError: Not an absolute http or https URL to a port and host that may be reached.
    """
    shown = shown_url(url)
    if len(url) > MAX_URL or any(char.isspace() or not char.isprintable() or char == "\\" for char in url):
        raise FetchRefusedError(f"{shown} is not a usable web address.")
    try:
        parsed = httpx.URL(url)
        host, port = parsed.raw_host.decode("ascii"), parsed.port
        literal = written_address(host)
    except (httpx.InvalidURL, ValueError) as error:
        raise FetchRefusedError(f"{shown} is not a usable web address.") from error
    if parsed.scheme not in ("http", "https"):
        raise FetchRefusedError(f"{shown} is refused: only http and https addresses can be fetched.")
    if not host or "%" in host or _USER.search(url):
        raise FetchRefusedError(f"{shown} is refused: it needs a plain host name, without user or password.")
    if port is None:
        port = 443 if parsed.scheme == "https" else 80
    if (host, port) in allow:
        return parsed
    if port not in OPEN_PORTS:
        raise FetchRefusedError(f"{shown} is refused: port {port} is not open for fetching.")
    if literal is not None and not is_public(literal):
        raise _not_public(host)
    return parsed


class PublicNetworkBackend(httpcore.AsyncNetworkBackend):
    """Connects to public addresses alone.

    Args:
        resolve: Finds the addresses of a name.
        allow: Hosts with ports that are connected to wherever they lead.
    """

    def __init__(self, resolve: Resolver = system_resolver, allow: Collection[HostPort] = ()) -> None:
        self._resolve = resolve
        self._allow = frozenset(allow)
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[_SocketOption] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first judged address that answers.

        Raises:
            FetchRefusedError: At least one address of the host is not public, or the port is not open.
            FetchFailedError: The host has no address.
            httpcore.ConnectError: None of the addresses answers.
        """
        failure: Exception = httpcore.ConnectError("no address")
        for address in await self.judge(host, port):
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[_SocketOption] | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Refused: a socket file is never public."""
        raise FetchRefusedError("A local socket cannot be fetched from.")

    async def sleep(self, seconds: float) -> None:
        """Wait between tries."""
        await self._network.sleep(seconds)

    async def judge(self, host: str, port: int) -> Sequence[str]:
        """The addresses to connect to, all of them found fit.

        Raises:
            FetchRefusedError: At least one address of the host is not public, or the port is not open.
            FetchFailedError: The host has no address.
        """
        allowed = (host, port) in self._allow
        if not allowed and port not in OPEN_PORTS:
            raise FetchRefusedError(f"Port {port} is not open for fetching.")
        try:
            literal = written_address(host)
            found = [host] if literal is not None else await self._resolve(host, port)
            addresses = [ip_address(text) for text in found]
        except (OSError, UnicodeError) as error:
            raise FetchFailedError(f"There is no host named {host[:100]!r}.") from error
        except ValueError as error:
            raise FetchRefusedError(f"{host[:100]!r} has no usable address.") from error
        if not addresses:
            raise FetchFailedError(f"There is no host named {host[:100]!r}.")
        # One private answer among public ones is enough to refuse: the next look-up might pick it.
        if not allowed and not all(is_public(address) for address in addresses):
            raise _not_public(host)
        return list(dict.fromkeys(str(address) for address in addresses))


def _not_public(host: str) -> FetchRefusedError:
    return FetchRefusedError(f"{host[:100]!r} is refused: it is not on the public internet.")
