"""HTTP events: an alternative to Socket Mode for servers that Slack can reach."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.signature import Clock, SignatureVerifier
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from channels.slack.bolt import set_aside
from channels.slack.intake import Intake

log = logging.getLogger(__name__)

MOST_BYTES = 1_000_000
"""Bytes of one request that are read; Slack's are far smaller."""

REFUSALS_SECONDS = 60.0
"""How long after a line about refused requests the next one may be logged."""


@dataclass(frozen=True, slots=True)
class Hearing:
    """What requests are handed to while the channel receives."""

    app: AsyncApp
    intake: Intake


class EventsEndpoint:
    """Takes requests that bear Slack's signature, made in the last five minutes.

    Args:
        account: Name of the account, which is part of the path.
        signing_secret: From the app's page "Basic Information". It is in no log line, error or ``repr``.
        now: Seconds since the epoch.
        monotonic: Seconds that only grow.
    """

    def __init__(
        self, account: str, signing_secret: str, now: Callable[[], float], monotonic: Callable[[], float]
    ) -> None:
        self._account = account
        self._refusals = _Refusals(account, monotonic)
        self._verifier = SignatureVerifier(signing_secret, _Clock(now))
        self._hearing: Hearing | None = None

    @property
    def path(self) -> str:
        """Where Slack is to send events, commands and button presses."""
        return f"/slack/{self._account}/events"

    def route(self) -> Route:
        """The route to mount."""
        return Route(self.path, self._handle, methods=["POST"])

    async def hear(self, hearing: Hearing) -> None:
        """Hand requests on until cancelled; before and after, Slack is told to come again."""
        self._hearing = hearing
        try:
            await asyncio.Event().wait()
        finally:
            self._hearing = None

    async def _handle(self, request: Request) -> Response:
        body = await _bounded_body(request)
        if body is None:
            return Response("too large", 413)
        if not self._is_genuine(body, request):
            self._refusals.count()
            return Response("bad signature", 401)
        hearing = self._hearing
        if hearing is None:
            return Response("not listening", 503)
        try:
            answer = await hearing.app.async_dispatch(to_async_bolt_request(request, body))
        except Exception as error:  # noqa: BLE001 - the border of a task; recorded and logged there
            # What Bolt cannot read, we cannot either: nobody knows where in it the secrets are.
            seen = {"bytes": len(body), "sha256": sha256(body).hexdigest()}
            return Response(status_code=await set_aside(error, seen, hearing.intake))
        return to_starlette_response(answer)

    def _is_genuine(self, body: bytes, request: Request) -> bool:
        """Slack docs, "Verifying requests from Slack". The age is checked against replays."""
        timestamp = request.headers.get("x-slack-request-timestamp", "")
        signature = request.headers.get("x-slack-signature", "")
        if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 16 and signature.isascii()):
            return False
        try:
            return self._verifier.is_valid(body, timestamp, signature)
        except UnicodeDecodeError:
            return False


class _Refusals:
    """Logs refused requests, of which anybody can send any number, in few lines."""

    def __init__(self, account: str, monotonic: Callable[[], float]) -> None:
        self._account = account
        self._monotonic = monotonic
        self._untold = 0
        self._told_at: float | None = None

    def count(self) -> None:
        """Count one, and log it with those not told yet unless a line was logged within the minute."""
        self._untold += 1
        now = self._monotonic()
        if self._told_at is not None and now - self._told_at < REFUSALS_SECONDS:
            return
        if self._untold == 1:
            log.warning("slack/%s: refused an HTTP request without a good signature", self._account)
        else:
            log.warning(
                "slack/%s: refused %d HTTP requests without a good signature since the last such line",
                self._account,
                self._untold,
            )
        self._untold, self._told_at = 0, now


class _Clock(Clock):
    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now

    def now(self) -> float:
        return self._now()


async def _bounded_body(request: Request) -> bytes | None:
    """The body, or None when it is too large."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            return None
    return body
