"""HTTP events: an alternative to Socket Mode for servers that Slack can reach."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

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
    """

    def __init__(self, account: str, signing_secret: str, now: Callable[[], float]) -> None:
        self._account = account
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
            log.warning("slack/%s: refused an HTTP request without a good signature", self._account)
            return Response("bad signature", 401)
        hearing = self._hearing
        if hearing is None:
            return Response("not listening", 503)
        try:
            answer = await hearing.app.async_dispatch(to_async_bolt_request(request, body))
        except Exception as error:  # noqa: BLE001 - the border of a task; recorded and logged there
            text = body.decode("utf-8", "replace")
            return Response(status_code=await set_aside(error, text, hearing.intake))
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
