"""The chat API: post a message, read what was said, follow it live, fetch files."""

import asyncio
import re
from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Header, HTTPException, Query, Request, Response
from fastapi.responses import FileResponse, JSONResponse

from channels.channel import Inbox
from channels.errors import InboxUnavailableError
from channels.feed import LOCAL_SENDER, Feed, FeedChannel
from channels.file_names import safe_name
from channels.messages import Address, ChatKind, InboundMessage, Sender
from channels.web.stream import EventStream
from channels.web.uploads import PostedMessage, UploadLimits, read_message
from channels.web.wire import page_json

CHAT_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""What a chat may be called."""

PAGE_LIMIT = 500
"""Most entries one request returns."""

_SHOWN_MIMES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_FILE_HEADERS = {
    "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "cache-control": "private, no-store",
}


def chat_routes(
    channels: Mapping[str, FeedChannel],
    inbox: Inbox,
    feed: Feed,
    closing: asyncio.Event,
    *,
    limits: UploadLimits | None = None,
    keep_alive: float = 15.0,
) -> APIRouter:
    """Routes below ``/api/chats/{channel}/{chat}``.

    Args:
        channels: The local channels by name; no other name is served.
        inbox: Where posted messages go.
        feed: Where they are read from.
        closing: Set when the server begins to shut down; event streams end at once.
        limits: How much one message may bring.
        keep_alive: Seconds of silence after which an event stream sends a comment.
    """
    router = APIRouter(prefix="/api/chats/{channel}/{chat}")
    bounds = limits or UploadLimits()

    def channel_of(channel: str) -> FeedChannel:
        if (found := channels.get(channel)) is None:
            raise HTTPException(404, "There is no such channel.")
        return found

    def address_of(channel: str, chat: str) -> Address:
        if not CHAT_NAME.fullmatch(chat):
            raise HTTPException(422, "A chat name has 1 to 64 letters, digits, dots, dashes or underscores.")
        return channel_of(channel).address(chat)

    @router.post("/messages", status_code=202)
    async def post_message(channel: str, chat: str, request: Request) -> JSONResponse:
        address = address_of(channel, chat)
        posted = await read_message(request, channel_of(channel).staging, f"{channel}:{chat}", bounds)
        try:
            await inbox.accept(_inbound(address, posted))
        except InboxUnavailableError as error:
            words = "The message could not be stored right now. Please try again in a moment."
            raise HTTPException(503, words, {"retry-after": "2"}) from error
        return JSONResponse({"message_id": posted.message_id}, 202)

    @router.get("/messages")
    async def read_messages(
        channel: str,
        chat: str,
        after: Annotated[str | None, Query(max_length=200)] = None,
        limit: Annotated[int, Query(ge=1, le=PAGE_LIMIT)] = 50,
    ) -> JSONResponse:
        return JSONResponse(page_json(await feed.read(address_of(channel, chat), after or None, limit)))

    @router.get("/events")
    async def follow(
        channel: str,
        chat: str,
        after: Annotated[str | None, Query(max_length=200)] = None,
        last_event_id: Annotated[str | None, Header(max_length=200)] = None,
    ) -> Response:
        # A browser that reconnects repeats its first URL, so the header knows better.
        cursor = last_event_id or after or None
        return EventStream(feed, address_of(channel, chat), cursor, closing, keep_alive)

    @router.get("/files/{file_id}")
    async def download(channel: str, chat: str, file_id: str) -> Response:
        found = await feed.file(address_of(channel, chat), file_id)
        if found is None or not await asyncio.to_thread(found.path.is_file):
            raise HTTPException(404, "There is no such file.")
        return FileResponse(
            found.path,
            # Only pictures keep their type, for previews; nothing else may be shown by a browser.
            media_type=found.mime if found.mime in _SHOWN_MIMES else "application/octet-stream",
            filename=safe_name(found.name),
            headers=_FILE_HEADERS,
        )

    return router


def _inbound(address: Address, posted: PostedMessage) -> InboundMessage:
    return InboundMessage(
        address=address,
        chat_kind=ChatKind.DIRECT,
        sender=Sender(id=LOCAL_SENDER),
        message_id=posted.message_id,
        dedupe_key=f"{address.channel}:{address.chat_id}:{posted.message_id}",
        text=posted.text,
        attachments=posted.attachments,
    )
