"""The methods of the open platform that the emulated Feishu has."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.emulators.feishu.cards import words_of
from tests.emulators.feishu.world import Chat, Json, Message, Sent, World, new_id

TEXT_LIMIT = 150 * 1024
RICH_LIMIT = 30 * 1024
FILE_LIMIT = 30 * 1024 * 1024
IMAGE_LIMIT = 10 * 1024 * 1024
DOWNLOAD_LIMIT = 100 * 1024 * 1024
MOST_TABLES = 5
MOST_EDITS = 20
UUID_SECONDS = 3600

_MAGIC = (b"\x89PNG", b"\xff\xd8", b"GIF8", b"RIFF", b"BM", b"II*", b"MM\x00")
_KINDS = {
    "text",
    "post",
    "image",
    "file",
    "audio",
    "media",
    "sticker",
    "interactive",
    "share_chat",
    "share_user",
}
_EMOJIS = {"Typing", "OnIt", "OK", "THUMBSUP", "DONE", "SMILE", "OneSecond"}
_FILE_TYPES = {"opus", "mp4", "pdf", "doc", "xls", "ppt", "stream"}


class RefusalError(Exception):
    """An error answer."""

    def __init__(self, code: int, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file in a multipart request."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Request:
    """One call. ``known`` holds what was sent under each ``uuid``, and when."""

    world: World
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    files: Mapping[str, UploadedFile]
    known: dict[str, tuple[float, Message]] = field(default_factory=dict)
    now: Callable[[], float] = time.time

    def text(self, name: str, *, needed: bool = True) -> str:
        """A parameter of the body that is text."""
        value = self.body.get(name) if isinstance(self.body, dict) else None
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or (needed and not value):
            raise RefusalError(99992402, f"field validation failed: {name} is required")
        return value


def bot_info(request: Request) -> Json:
    bot = request.world.bot
    shown = {"activate_status": 2, "app_name": bot.name, "avatar_url": "", "ip_white_list": []}
    return {"bot": {**shown, "open_id": bot.open_id}}


def create(request: Request) -> Json:
    kind = request.query.get("receive_id_type")
    if kind not in ("chat_id", "open_id", "user_id", "union_id", "email"):
        raise RefusalError(99992402, "field validation failed: receive_id_type is required")
    target = request.text("receive_id")
    chat = request.world.chats.get(target) if kind == "chat_id" else None
    if chat is None:
        raise RefusalError(
            230001, "Your request contains an invalid request parameter, ext=invalid receive_id."
        )
    return _post(request, "create", chat, None, in_thread=False)


def reply(request: Request) -> Json:
    answered = _message(request)
    if answered.recalled:
        raise RefusalError(230011, "The message was withdrawn.")
    in_thread = request.body.get("reply_in_thread", False) if isinstance(request.body, dict) else False
    if not isinstance(in_thread, bool):
        raise RefusalError(99992402, "field validation failed: reply_in_thread must be a boolean")
    return _post(request, "reply", answered.chat, answered, in_thread=in_thread)


def _post(request: Request, method: str, chat: Chat, answered: Message | None, *, in_thread: bool) -> Json:
    world = request.world
    kind, content = request.text("msg_type"), request.text("content")
    key = request.text("uuid", needed=False)
    if len(key) > 50:
        raise RefusalError(99992402, "field validation failed: uuid is longer than 50")
    if chat.id in world.left:
        raise RefusalError(230002, "The bot can not be outside the group.")
    parsed = _checked_content(world, kind, content)
    since, earlier = request.known.get(key, (0.0, None))
    if key and earlier is not None and request.now() - since < UUID_SECONDS:
        return {"data": describe(world, earlier)}
    message = world.post(
        chat, None, kind, content, reply_to=answered.id if answered else None, in_thread=in_thread
    )
    if key:
        request.known[key] = (request.now(), message)
    file = world.files.get(str(parsed.get("file_key") or parsed.get("image_key")))
    world.sent.append(
        Sent(
            method=method,
            chat_id=chat.id,
            message_id=message.id,
            kind=kind,
            text=words_of(kind, parsed),
            accepted_at=time.time(),
            uuid=key,
            reply_to=answered.id if answered else None,
            in_thread=in_thread,
            thread_id=message.thread_id,
            file_name=file.name if file else None,
            data=file.data if file else None,
            content=parsed,
        )
    )
    return {"data": describe(world, message)}


def get_message(request: Request) -> Json:
    message = _message(request)
    shown = [describe(request.world, one) for one in (message, *message.children)]
    return {"data": {"items": shown}}


def get_chat(request: Request) -> Json:
    chat = request.world.chats.get(request.path["chat_id"])
    if chat is None:
        raise RefusalError(232006, "Your request specifies a chat_id which is invalid.")
    mode = {"p2p": "p2p", "group": "group", "topic_group": "topic"}[chat.type]
    return {"data": {"name": chat.title, "chat_mode": mode, "chat_type": "private", "chat_status": "normal"}}


def edit(request: Request) -> Json:
    message = _own(request)
    kind, content = request.text("msg_type"), request.text("content")
    if kind not in ("text", "post") or message.kind not in ("text", "post"):
        raise RefusalError(
            230001, "Your request contains an invalid request parameter, ext=invalid msg_type."
        )
    if message.edits >= MOST_EDITS:
        raise RefusalError(230072, "The message has reached the number of times it can be edited.")
    _checked_content(request.world, kind, content)
    message.kind, message.content = kind, content
    message.edits += 1
    return {"data": describe(request.world, message)}


def patch_card(request: Request) -> Json:
    message = _own(request)
    if message.kind != "interactive":
        raise RefusalError(230001, "Your request contains an invalid request parameter, ext=not a card.")
    content = request.text("content")
    _checked_content(request.world, "interactive", content)
    message.content = content
    return {"data": {}}


def delete_message(request: Request) -> Json:
    _own(request).recalled = True
    return {"data": {}}


def react(request: Request) -> Json:
    message = _message(request)
    kind = request.body.get("reaction_type") if isinstance(request.body, dict) else None
    emoji = kind.get("emoji_type") if isinstance(kind, dict) else None
    if emoji not in _EMOJIS:
        raise RefusalError(231001, "reaction type is invalid.")
    if message.recalled:
        raise RefusalError(231003, "The message is not found or recalled.")
    known = next((one for one, shown in message.reactions.items() if shown == emoji), None)
    reaction_id = known or f"ZCaCIjUBVVWSrm5L-{new_id('r')[2:]}"
    message.reactions[reaction_id] = emoji
    shown = {"operator_id": request.world.app_id, "operator_type": "app"}
    return {"data": {"reaction_id": reaction_id, "operator": shown, "reaction_type": {"emoji_type": emoji}}}


def unreact(request: Request) -> Json:
    message = _message(request)
    if message.reactions.pop(request.path["reaction_id"], None) is None:
        raise RefusalError(231007, "The reaction does not exist.")
    return {"data": {}}


def upload_file(request: Request) -> Json:
    if request.text("file_type") not in _FILE_TYPES:
        raise RefusalError(234001, "Invalid request param.")
    file = request.files.get("file")
    if file is None:
        raise RefusalError(234001, "Invalid request param.")
    _check_size(len(file.data), FILE_LIMIT)
    return {"data": {"file_key": request.world.store(request.text("file_name"), file.data)}}


def upload_image(request: Request) -> Json:
    if request.text("image_type") not in ("message", "avatar"):
        raise RefusalError(234001, "Invalid request param.")
    file = request.files.get("image")
    if file is None:
        raise RefusalError(234001, "Invalid request param.")
    _check_size(len(file.data), IMAGE_LIMIT)
    if not file.data.startswith(_MAGIC):
        raise RefusalError(234011, "Can't recognize image format.")
    return {"data": {"image_key": request.world.store(file.name, file.data, image=True)}}


def resource(request: Request) -> bytes:
    message = _message(request)
    if message.kind in ("interactive", "merge_forward") or message.upper_id:
        raise RefusalError(234043, "Unsupported message type.")
    key, kind = request.path["file_key"], request.query.get("type")
    file = request.world.files.get(key)
    if kind not in ("image", "file"):
        raise RefusalError(234001, "Invalid request param.")
    if file is None or key not in message.content or file.image != (kind == "image"):
        raise RefusalError(234003, "File not in msg.")
    if len(file.data) > DOWNLOAD_LIMIT:
        raise RefusalError(234037, "Downloaded file size exceeds limit.")
    return file.data


def describe(world: World, message: Message) -> Json:
    """A message as the platform tells it when asked."""
    sender = message.sender
    person = {"id": sender.open_id, "id_type": "open_id", "sender_type": "user"} if sender else None
    app = {"id": world.app_id, "id_type": "app_id", "sender_type": "app"}
    shown: Json = {
        "message_id": message.id,
        "msg_type": message.kind,
        "create_time": str(message.created_ms),
        "update_time": str(message.created_ms),
        "deleted": message.recalled,
        "updated": message.edits > 0,
        "chat_id": message.chat.id,
        "sender": {**(person or app), "tenant_key": world.tenant_key},
        "body": {"content": message.content},
    }
    more = {
        "root_id": message.root_id,
        "parent_id": message.parent_id,
        "thread_id": message.thread_id,
        "upper_message_id": message.upper_id,
    }
    return shown | {name: value for name, value in more.items() if value is not None}


def _message(request: Request) -> Message:
    message = request.world.messages.get(request.path["message_id"])
    if message is None:
        raise RefusalError(
            230001, "Your request contains an invalid request parameter, ext=invalid message_id."
        )
    if message.chat.id in request.world.left:
        raise RefusalError(230002, "The bot can not be outside the group.")
    return message


def _own(request: Request) -> Message:
    message = _message(request)
    if message.sender is not None:
        raise RefusalError(230071, "The operator is not the sender of the message.")
    if message.recalled:
        raise RefusalError(230011, "The message was withdrawn.")
    return message


def _check_size(size: int, limit: int) -> None:
    if size == 0:
        raise RefusalError(234010, "File's size can't be 0.")
    if size > limit:
        raise RefusalError(234006, "The file size exceed the max value.")


def _checked_content(world: World, kind: str, content: str) -> Json:
    """The content, parsed, if it is what its type says."""
    if kind not in _KINDS:
        raise RefusalError(
            230001, "Your request contains an invalid request parameter, ext=invalid msg_type."
        )
    try:
        parsed = json.loads(content)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise RefusalError(
            230001, "Your request contains an invalid request parameter, ext=content is not JSON."
        )
    size = len(content.encode())
    if size > (TEXT_LIMIT if kind == "text" else RICH_LIMIT):
        raise RefusalError(230025, "The length of the message content reaches its limit.")
    match kind:
        case "text" if not str(parsed.get("text", "")).strip():
            raise RefusalError(
                230001, "Your request contains an invalid request parameter, ext=text is empty."
            )
        case "post" if not any(isinstance(one, dict) and "content" in one for one in parsed.values()):
            raise RefusalError(
                230001, "Your request contains an invalid request parameter, ext=no post content."
            )
        case "interactive":
            _check_card(parsed)
        case "file" | "image":
            key = parsed.get(f"{kind}_key")
            if key not in world.files or world.files[key].image != (kind == "image"):
                raise RefusalError(
                    230001, f"Your request contains an invalid request parameter, ext=invalid {kind}_key."
                )
    return parsed


def _check_card(card: Json) -> None:
    elements = card.get("body", {}).get("elements") if card.get("schema") == "2.0" else None
    if not isinstance(elements, list) or not all(isinstance(one, dict) and "tag" in one for one in elements):
        raise RefusalError(
            230099, "Failed to create card content, ext=ErrCode: 200621; ErrMsg: parse card json err;"
        )
    tables = sum(
        line.strip().startswith("|") and set(line.strip()) <= set("|-: ")
        for element in elements
        for line in str(element.get("content", "")).splitlines()
    )
    if tables > MOST_TABLES:
        raise RefusalError(
            230099,
            "Failed to create card content, ext=ErrCode: 11310; ErrMsg: card table number over limit; "
            "ErrorValue: table;",
        )


Handler = Callable[[Request], Json | bytes]

ROUTES: tuple[tuple[str, str, str, Handler], ...] = (
    ("bot_info", "GET", "/open-apis/bot/v3/info", bot_info),
    ("create", "POST", "/open-apis/im/v1/messages", create),
    ("get_message", "GET", "/open-apis/im/v1/messages/{message_id}", get_message),
    ("get_chat", "GET", "/open-apis/im/v1/chats/{chat_id}", get_chat),
    ("edit", "PUT", "/open-apis/im/v1/messages/{message_id}", edit),
    ("patch_card", "PATCH", "/open-apis/im/v1/messages/{message_id}", patch_card),
    ("delete", "DELETE", "/open-apis/im/v1/messages/{message_id}", delete_message),
    ("reply", "POST", "/open-apis/im/v1/messages/{message_id}/reply", reply),
    ("react", "POST", "/open-apis/im/v1/messages/{message_id}/reactions", react),
    ("unreact", "DELETE", "/open-apis/im/v1/messages/{message_id}/reactions/{reaction_id}", unreact),
    ("resource", "GET", "/open-apis/im/v1/messages/{message_id}/resources/{file_key}", resource),
    ("upload_file", "POST", "/open-apis/im/v1/files", upload_file),
    ("upload_image", "POST", "/open-apis/im/v1/images", upload_image),
)
"""Name for faults and counts, HTTP method, path, and what does it."""
