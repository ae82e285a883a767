"""Who may talk to the local server, and what browsers are told about its answers.

A server on loopback is reachable by every page its user visits. Three things keep those out: the
Host header must name this machine (a name that was rebound to 127.0.0.1 does not), state changes
need a header no other site can set without being asked, and browsers say which site a request
comes from (``Origin``, ``Sec-Fetch-Site``).
"""

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from channels.web.session import COOKIE, TryLimit, session_valid

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_READING = frozenset({"GET", "HEAD"})
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


@dataclass(frozen=True, slots=True)
class WebSecurity:
    """Who is let in.

    Args:
        allowed_hosts: Host names (without port, lower case) accepted besides the loopback names.
        token: What people must know; None lets everyone in who can reach the port.
        local_token: Accepted as a bearer token as well; random per process, for the console.
        open_paths: Exact paths served without a token, such as a health check.
    """

    allowed_hosts: frozenset[str] = frozenset()
    token: str | None = field(default=None, repr=False)
    local_token: str | None = field(default=None, repr=False)
    open_paths: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.token is not None and not self.token.strip():
            raise ValueError("The web token is empty: leave it out or set it.")


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer instead of the one asked for."""

    status: int
    words: str


def host_name(host: str) -> str | None:
    """The name in a Host header, lower case and without port; None when it is malformed. Pure."""
    if any(sign in host for sign in "/?#@\\ \t"):
        return None
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    return parts.hostname.rstrip(".") if parts.hostname else None


def same_origin(origin: str, host: str) -> bool:
    """Whether an Origin header names the server that a Host header names. Pure.

    The scheme may differ, for a proxy that ends TLS in front of us.
    """
    scheme, _, rest = origin.partition("://")
    if scheme not in ("http", "https") or not rest:
        return False
    default = f":{80 if scheme == 'http' else 443}"
    return rest.lower().removesuffix(default) == host.lower().removesuffix(default)


def refusal(method: str, headers: Headers, security: WebSecurity) -> Refusal | None:
    """Why a request is refused whoever makes it, or None. Pure."""
    hosts = headers.getlist("host")
    name = host_name(hosts[0]) if len(hosts) == 1 else None
    if name is None or (name not in _LOOPBACK and name not in security.allowed_hosts):
        return Refusal(421, "This server does not answer to that host name. Add it to the allowed hosts.")
    if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not (
        method == "GET" and headers.get("sec-fetch-mode") == "navigate"
    ):
        return Refusal(403, "Requests from other sites are refused.")
    if method in _READING:
        return None
    origin = headers.get("origin")
    if origin is not None and not same_origin(origin, hosts[0]):
        return Refusal(403, "Requests from other sites are refused.")
    if "x-hart" not in headers:
        return Refusal(403, "Set the header X-Hart: 1.")
    return None


class Guard:
    """ASGI middleware that refuses what :func:`refusal` says and asks for the token.

    Args:
        app: What is guarded.
        security: Who is let in.
        tries: Limits wrong tokens.
        now: POSIX time, for the age of sessions.
    """

    def __init__(
        self, app: ASGIApp, security: WebSecurity, tries: TryLimit, now: Callable[[], float]
    ) -> None:
        self._app = app
        self._security = security
        self._tries = tries
        self._now = now

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            answer = self._answer(scope)
            await (answer or self._app)(scope, receive, _with_headers(send))
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _answer(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        refused = refusal(scope["method"], headers, self._security)
        if refused is None and scope["path"] not in self._security.open_paths | {"/login"}:
            refused = self._unauthorized(headers)
        if refused is None:
            return None
        if refused.status == 401 and scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
            return RedirectResponse("/login", 303)
        extra = {401: {"www-authenticate": "Bearer"}, 429: {"retry-after": "60"}}.get(refused.status)
        return JSONResponse({"detail": refused.words}, refused.status, extra)

    def _unauthorized(self, headers: Headers) -> Refusal | None:
        if self._security.token is None:
            return None
        cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        if session_valid(cookie, self._security.token, self._now()):
            return None
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not given:
            return Refusal(401, "Log in first, or send the token.")
        # The local token cannot be guessed, so a storm of wrong tries never locks the console out.
        if self._security.local_token is not None and equal(given, self._security.local_token):
            return None
        if self._tries.exhausted():
            return Refusal(429, "Too many wrong tokens. Wait a minute.")
        if equal(given, self._security.token):
            return None
        self._tries.failed()
        return Refusal(401, "The token is wrong.")


def equal(given: str, secret: str) -> bool:
    """Compare in a time that does not depend on where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode("utf-8", "replace"))


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
