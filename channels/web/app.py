"""The local web server's application."""

import asyncio
import time
from collections.abc import Callable, Mapping

from fastapi import FastAPI
from starlette.middleware import Middleware

from channels.channel import Inbox
from channels.feed import Feed, FeedChannel
from channels.web.login import login_routes
from channels.web.page import page_routes
from channels.web.routes import chat_routes
from channels.web.security import Guard, WebSecurity
from channels.web.session import TryLimit
from channels.web.uploads import UploadLimits


def web_app(
    channels: Mapping[str, FeedChannel],
    inbox: Inbox,
    feed: Feed,
    closing: asyncio.Event,
    security: WebSecurity,
    *,
    limits: UploadLimits | None = None,
    keep_alive: float = 15.0,
    now: Callable[[], float] = time.time,
) -> FastAPI:
    """The chat page, its API and login behind the guard. More routes may be added to the result.

    Args:
        channels: The local channels by name.
        inbox: Where posted messages go.
        feed: Where they are read from.
        closing: Set this before the server is told to shut down: servers wait for open responses,
            and event streams end only by it.
        security: Who is let in.
        limits: How much one message may bring.
        keep_alive: Seconds of silence after which an event stream sends a comment.
        now: POSIX time.
    """
    tries = TryLimit(now)
    app = FastAPI(
        title="Hart",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        middleware=[Middleware(Guard, security=security, tries=tries, now=now)],
    )
    app.include_router(page_routes())
    app.include_router(login_routes(security, tries, now))
    app.include_router(chat_routes(channels, inbox, feed, closing, limits=limits, keep_alive=keep_alive))
    return app
