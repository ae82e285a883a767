"""The Web API methods that the emulated Slack has, as strict as the documents are."""

import re
import time
from collections.abc import Callable
from typing import Any

from tests.emulators.slack.posting import delete_message, post_message, update_message
from tests.emulators.slack.request import TIMESTAMP, RefusalError, Request, channel_of, thread_of
from tests.emulators.slack.world import TEAM, Channel, Json, Sent, StoredFile

UPLOAD_LIMIT = 1 << 30


async def auth_test(request: Request) -> Json:
    bot = request.world.bot
    return {
        "url": "https://hart-test.slack.com/",
        "team": "Hart Test",
        "user": bot.name,
        "team_id": TEAM,
        "user_id": bot.id,
        "bot_id": bot.bot_id,
        "is_enterprise_install": False,
    }


async def add_reaction(request: Request) -> Json:
    given = _reactions(request)
    if request.params["name"] in given:
        raise RefusalError("already_reacted")
    given.add(request.params["name"])
    return {}


async def remove_reaction(request: Request) -> Json:
    given = _reactions(request)
    if request.params["name"] not in given:
        raise RefusalError("no_reaction")
    given.remove(request.params["name"])
    return {}


async def user_info(request: Request) -> Json:
    request.no_json()
    request.scope("users:read")
    user = request.world.users.get(request.text("user"))
    if user is None:
        raise RefusalError("user_not_found")
    shown = {"real_name": user.name, "display_name": user.name}
    return {
        "user": {
            "id": user.id,
            "team_id": TEAM,
            "name": user.name.lower().replace(" ", "."),
            "real_name": user.name,
            "is_bot": user.is_bot,
            "profile": shown,
        }
    }


async def conversation_info(request: Request) -> Json:
    request.no_json()
    request.scope("channels:read", "groups:read", "im:read", "mpim:read")
    return {"channel": _conversation(channel_of(request, writing=False))}


async def conversation_list(request: Request) -> Json:
    request.no_json()
    request.scope("channels:read", "groups:read", "im:read", "mpim:read")
    return {
        "channels": [_conversation(channel) for channel in request.world.channels.values()],
        "response_metadata": {"next_cursor": ""},
    }


async def conversation_replies(request: Request) -> Json:
    request.no_json()
    channel = channel_of(request, writing=False)
    request.scope({"channel": "channels", "group": "groups"}.get(channel.kind, channel.kind) + ":history")
    root = request.text("ts")
    messages = request.world.messages[channel.id]
    if root not in messages:
        raise RefusalError("thread_not_found")
    limit = _number(request, "limit", 1000)
    found = [one for ts, one in sorted(messages.items()) if ts == root or one.get("thread_ts") == root]
    return {"messages": found[:limit], "has_more": len(found) > limit}


async def conversation_history(request: Request) -> Json:
    request.no_json()
    channel = channel_of(request, writing=False)
    request.scope({"channel": "channels", "group": "groups"}.get(channel.kind, channel.kind) + ":history")
    limit = _number(request, "limit", 100)
    tops = [
        one
        for ts, one in sorted(request.world.messages[channel.id].items(), reverse=True)
        if one.get("thread_ts", ts) == ts
    ]
    return {"messages": tops[:limit], "has_more": len(tops) > limit}


async def open_conversation(request: Request) -> Json:
    request.scope("im:write", "mpim:write")
    user = request.world.users.get(request.text("users"))
    if user is None:
        raise RefusalError("user_not_found")
    return {"channel": {"id": request.world.dm(user).id}}


async def get_upload_url(request: Request) -> Json:
    request.no_json()
    request.scope("files:write")
    name, length = request.text("filename"), _number(request, "length", 0)
    if length <= 0:
        raise RefusalError("invalid_arguments")
    if length > UPLOAD_LIMIT:
        raise RefusalError("file_upload_size_restricted")
    file = request.world.store_file(name, b"", owner=request.world.bot.id, size=length)
    return {"upload_url": f"{request.origin}/upload/v1/{file.id}", "file_id": file.id}


async def complete_upload(request: Request) -> Json:
    request.no_json()
    request.scope("files:write")
    world = request.world
    wanted = request.parsed("files")
    if not isinstance(wanted, list) or not wanted:
        raise RefusalError("invalid_arguments")
    files: list[StoredFile] = []
    for one in wanted:
        file = world.files.get(one.get("id", ""))
        if file is None or file.shared or len(file.data) != file.size:
            raise RefusalError("file_not_found")
        files.append(file)
    if request.params.get("channel_id"):
        channel = channel_of(request, name="channel_id")
        thread = thread_of(request, channel)
        _share(request, channel, thread, files)
    for file in files:
        file.shared = True
    titles = {one["id"]: one.get("title", "") for one in wanted}
    return {"files": [{"id": file.id, "title": titles[file.id]} for file in files]}


def _share(request: Request, channel: Channel, thread: str | None, files: list[StoredFile]) -> None:
    world = request.world
    comment = request.params.get("initial_comment", "")
    message = world.keep(
        channel,
        {
            "subtype": "file_share",
            "user": world.bot.id,
            "bot_id": world.bot.bot_id,
            "text": comment,
            "files": [file_json(file, request.origin) for file in files],
            **({"thread_ts": thread} if thread else {}),
        },
    )
    world.announce(channel, message)
    for file in files:
        world.sent.append(
            Sent(
                "files.completeUploadExternal",
                channel.id,
                message["ts"],
                comment,
                time.time(),
                thread=thread,
                file_name=file.name,
                document=file.data,
                params=request.params,
            )
        )


async def file_info(request: Request) -> Json:
    request.no_json()
    request.scope("files:read")
    file = request.world.files.get(request.text("file"))
    if file is None:
        raise RefusalError("file_not_found")
    return {"file": file_json(file, request.origin)}


def file_json(file: StoredFile, origin: str) -> Json:
    """A file object."""
    url = file.url or f"{origin}/files-pri/{TEAM}-{file.id}/{{}}{file.id.lower()}"
    return {
        "id": file.id,
        "name": file.name,
        "title": file.name,
        "mimetype": file.mime,
        "user": file.owner,
        "size": file.size,
        "mode": file.mode,
        "is_external": file.is_external,
        "url_private": url.format(""),
        "url_private_download": url.format("download/"),
    }


def _reactions(request: Request) -> set[str]:
    request.scope("reactions:write")
    channel = channel_of(request)
    ts = request.text("timestamp")
    if not re.fullmatch(r"[a-z0-9_+'-]+", request.text("name")):
        raise RefusalError("invalid_name")
    if ts not in request.world.messages[channel.id]:
        raise RefusalError("message_not_found" if TIMESTAMP.fullmatch(ts) else "bad_timestamp")
    return request.world.reactions.setdefault((channel.id, ts), set())


def _conversation(channel: Channel) -> Json:
    return {
        "id": channel.id,
        "name": channel.name,
        "is_im": channel.kind == "im",
        "is_mpim": channel.kind == "mpim",
        "is_private": channel.kind in ("group", "mpim", "im"),
        "is_archived": channel.archived,
    }


def _number(request: Request, name: str, default: int) -> int:
    try:
        return int(request.params.get(name, default))
    except (TypeError, ValueError):
        raise RefusalError("invalid_arguments") from None


Method = Callable[[Request], Any]

METHODS: dict[str, Method] = {
    "auth.test": auth_test,
    "chat.postMessage": post_message,
    "chat.update": update_message,
    "chat.delete": delete_message,
    "reactions.add": add_reaction,
    "reactions.remove": remove_reaction,
    "users.info": user_info,
    "conversations.info": conversation_info,
    "conversations.list": conversation_list,
    "conversations.replies": conversation_replies,
    "conversations.history": conversation_history,
    "conversations.open": open_conversation,
    "files.getUploadURLExternal": get_upload_url,
    "files.completeUploadExternal": complete_upload,
    "files.info": file_info,
}
