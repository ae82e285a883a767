"""What the bot posts to the emulated Slack: messages, changes of them, and answers to a response URL."""

import time
from typing import Any

from tests.emulators.slack.blocks import MARKDOWN_LIMIT, buttons_in, check_blocks, words_in
from tests.emulators.slack.request import RefusalError, Request, channel_of, thread_of
from tests.emulators.slack.world import APP, Json, ResponseUrl, Sent, World, calls_in

TEXT_LIMIT = 40_000
RESPONSE_SECONDS = 30 * 60
MOST_RESPONSES = 5


async def post_message(request: Request) -> Json:
    request.scope("chat:write")
    world, params = request.world, request.params
    channel = channel_of(request)
    said, blocks = _content(params)
    thread = thread_of(request, channel)
    message = world.keep(
        channel,
        {
            "user": world.bot.id,
            "bot_id": world.bot.bot_id,
            "app_id": APP,
            "text": said,
            **({"blocks": blocks} if blocks else {}),
            **({"thread_ts": thread} if thread else {}),
        },
    )
    _note(world, "chat.postMessage", channel.id, message, params, thread=thread)
    world.announce(channel, message)
    return {"channel": channel.id, "ts": message["ts"], "message": message}


async def update_message(request: Request) -> Json:
    request.scope("chat:write")
    channel = channel_of(request)
    message = request.world.messages[channel.id].get(request.text("ts"))
    if message is None:
        raise RefusalError("message_not_found")
    if message.get("user") != request.world.bot.id:
        raise RefusalError("cant_update_message")
    _change(request.world, message, request.params)
    return {"channel": channel.id, "ts": message["ts"], "text": message["text"]}


async def delete_message(request: Request) -> Json:
    request.scope("chat:write")
    channel = channel_of(request)
    ts = request.text("ts")
    message = request.world.messages[channel.id].get(ts)
    if message is None:
        raise RefusalError("message_not_found")
    if message.get("user") != request.world.bot.id:
        raise RefusalError("cant_delete_message")
    del request.world.messages[channel.id][ts]
    return {"channel": channel.id, "ts": ts}


def respond(world: World, way: ResponseUrl, params: Json) -> str:
    """Take what was posted to a response URL; returns Slack's word for it, which is ``ok`` if taken.

    What is posted is seen by one person alone, and is no message of the channel.
    """
    if time.time() - way.made_at > RESPONSE_SECONDS:
        return "expired_url"
    if way.uses >= MOST_RESPONSES:
        return "used_url"
    try:
        if params.get("response_type", "ephemeral") != "ephemeral" or "markdown_text" in params:
            raise RefusalError("invalid_payload")
        if params.get("replace_original") is True and way.replaces is not None:
            _change(world, way.replaces, params)
        else:
            said, blocks = _content(params)
            message: Json = {"ts": world.new_ts(), "text": said, **({"blocks": blocks} if blocks else {})}
            world.ephemeral[message["ts"]] = message
            _note(world, "response_url", way.channel, message, params, seen_by=way.user)
    except RefusalError as refusal:
        return refusal.error
    way.uses += 1
    return "ok"


def _content(params: Json) -> tuple[str, list[Json]]:
    markdown, text, blocks = params.get("markdown_text"), params.get("text"), params.get("blocks")
    if markdown is not None and (text is not None or blocks):
        raise RefusalError("markdown_text_conflict")
    said = markdown if markdown is not None else text
    if not isinstance(said, str) or not said.strip():
        raise RefusalError("no_text")
    if len(said) > (MARKDOWN_LIMIT if markdown is not None else TEXT_LIMIT):
        raise RefusalError("msg_too_long")
    return said, check_blocks(blocks) if blocks else []


def _change(world: World, message: Json, params: Json) -> None:
    said, blocks = _content(params)
    message.pop("blocks", None)
    message |= {"text": said, "edited": {"user": world.bot.id, "ts": world.new_ts()}}
    message |= {"blocks": blocks} if blocks else {}


def _note(world: World, method: str, channel: str, message: Json, params: Json, **more: Any) -> None:
    blocks: list[Json] = message.get("blocks", [])
    shown = words_in(blocks) if blocks else message["text"]
    world.sent.append(
        Sent(
            method,
            channel,
            message["ts"],
            shown,
            time.time(),
            calls=calls_in(message["text"] + shown),
            params=params,
            buttons=buttons_in(blocks),
            **more,
        )
    )
