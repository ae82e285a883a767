"""The Bot API methods that the emulated Telegram has."""

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.emulators.telegram.entities import FormatError, check_entities, units
from tests.emulators.telegram.world import Chat, Json, Sent, World

TEXT_LIMIT = 4096
CAPTION_LIMIT = 1024
CALLBACK_LIMIT = 64
UPLOAD_LIMIT = 50 * 1024 * 1024
DOWNLOAD_LIMIT = 20 * 1024 * 1024


class RefusalError(Exception):
    """An error answer."""

    def __init__(self, code: int, description: str, parameters: Json | None = None) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file in a multipart request."""

    name: str
    data: bytes


@dataclass(slots=True)
class Polls:
    """Only one poll may wait: a new one ends the one before."""

    latest: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """One call."""

    world: World
    params: Json
    files: Mapping[str, UploadedFile] = field(default_factory=dict)
    polls: Polls = field(default_factory=Polls)

    def number(self, name: str, default: int | None = None) -> int | None:
        """An integer parameter, which forms carry as text."""
        value = self.params.get(name, default)
        try:
            return None if value is None else int(value)
        except (TypeError, ValueError):
            raise RefusalError(400, f"Bad Request: {name} must be an integer") from None

    def parsed(self, name: str) -> Any:
        """A nested parameter, which forms carry as JSON text."""
        value = self.params.get(name)
        try:
            return json.loads(value) if isinstance(value, str) else value
        except ValueError:
            raise RefusalError(400, f"Bad Request: can't parse {name} JSON object") from None


class RawResult(bytes):
    """A result that is JSON already."""


async def get_me(request: Request) -> Json:
    return {**request.world.bot.as_json(), "can_join_groups": True, "can_read_all_group_messages": True}


async def get_updates(request: Request) -> RawResult:
    world, polls = request.world, request.polls
    polls.latest += 1
    mine = polls.latest
    world.notify()
    if world.webhook:
        raise RefusalError(
            409,
            "Conflict: can't use getUpdates method while webhook is active; "
            "use deleteWebhook to delete the webhook first",
        )
    _forget(world, request.number("offset", 0) or 0)
    if (allowed := request.parsed("allowed_updates")) is not None:
        world.allowed_updates = list(allowed) or None

    def ready() -> bool:
        return bool(world.updates) or polls.latest != mine or world.revoked

    try:
        await world.wait_for(ready, request.number("timeout", 0) or 0)
    except TimeoutError:
        return RawResult(b"[]")
    if world.revoked:
        raise RefusalError(401, "Unauthorized")
    if polls.latest != mine:
        raise RefusalError(
            409,
            "Conflict: terminated by other getUpdates request; "
            "make sure that only one bot instance is running",
        )
    limit = min(max(request.number("limit", 100) or 100, 1), 100)
    return RawResult(b"[" + b",".join(data for _, data in world.updates[:limit]) + b"]")


def _forget(world: World, offset: int) -> None:
    """An offset acknowledges all before it; a negative one keeps that many of the newest.

    With ``ignored_acks`` some acknowledgements get lost, and what they were for is handed out again.
    """
    if offset < 0:
        world.updates = world.updates[offset:]
    elif offset > 0:
        if world.ignored_acks > 0 and any(update_id < offset for update_id, _ in world.updates):
            world.ignored_acks -= 1
            return
        world.acknowledged = max(world.acknowledged, offset - 1)
        world.updates = [update for update in world.updates if update[0] >= offset]
    world.notify()


async def delete_webhook(request: Request) -> bool:
    request.world.webhook = ""
    if request.parsed("drop_pending_updates"):
        request.world.updates.clear()
    return True


async def send_message(request: Request) -> Json:
    text = str(request.params.get("text", "")).rstrip()
    entities = request.parsed("entities") or []
    if not any(entity.get("offset") == 0 for entity in entities):
        text = text.lstrip()  # TDLib leaves white space that belongs to an entity
    if not text.strip():
        raise RefusalError(400, "Bad Request: message text is empty")
    if units(text) > TEXT_LIMIT:
        raise RefusalError(400, "Bad Request: message is too long")
    _check_format(request, text, "entities")
    content: Json = {"text": text} | _keyboard(request)
    if entities:
        content["entities"] = entities
    return _bot_posts(request, "sendMessage", content, text)


async def send_document(request: Request) -> Json:
    file = request.files.get("document")
    caption = str(request.params.get("caption", "")).strip()
    if file is None:
        raise RefusalError(400, "Bad Request: there is no document in the request")
    if len(file.data) > UPLOAD_LIMIT:
        raise RefusalError(413, "Request Entity Too Large")
    if not file.data:
        raise RefusalError(400, "Bad Request: file must be non-empty")
    if units(caption) > CAPTION_LIMIT:
        raise RefusalError(400, "Bad Request: message caption is too long")
    _check_format(request, caption, "caption_entities")
    document = {
        "file_id": request.world.store_file(file.data),
        "file_name": file.name,
        "file_size": len(file.data),
    }
    content: Json = {"document": document} | ({"caption": caption} if caption else {})
    return _bot_posts(request, "sendDocument", content, caption, file)


def _bot_posts(
    request: Request, method: str, content: Json, text: str, file: UploadedFile | None = None
) -> Json:
    world = request.world
    chat = _chat(request)
    thread = _thread(request, chat)
    reply = request.parsed("reply_parameters") or {}
    reply_to = reply.get("message_id")
    if reply_to is not None and (chat.id, reply_to) not in world.messages:
        if not reply.get("allow_sending_without_reply"):
            raise RefusalError(400, "Bad Request: message to be replied not found")
        reply_to = None
    message = world.keep(chat, {"from": world.bot.as_json(), **content}, reply_to, thread)
    world.sent.append(
        Sent(
            method=method,
            chat_id=chat.id,
            message_id=message["message_id"],
            text=text,
            accepted_at=time.time(),
            reply_to=reply_to,
            thread=thread,
            file_name=file.name if file else None,
            document=file.data if file else None,
            params=request.params,
            buttons=tuple(
                (button["text"], button["callback_data"])
                for row in content.get("reply_markup", {}).get("inline_keyboard", [])
                for button in row
            ),
        )
    )
    return message


def _keyboard(request: Request) -> Json:
    """The buttons of a message, as strict as Telegram is about them."""
    markup = request.parsed("reply_markup")
    if markup is None:
        return {}
    rows = markup.get("inline_keyboard") if isinstance(markup, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise RefusalError(400, "Bad Request: object expected as reply markup")
    for button in (button for row in rows for button in row):
        if not isinstance(button.get("text"), str) or not button["text"].strip():
            raise RefusalError(400, "Bad Request: text buttons are unallowed in the inline keyboard")
        data = button.get("callback_data")
        if not isinstance(data, str) or not 1 <= len(data.encode()) <= CALLBACK_LIMIT:
            raise RefusalError(400, "Bad Request: BUTTON_DATA_INVALID")
    return {"reply_markup": {"inline_keyboard": rows}}


async def edit_message_text(request: Request) -> Json:
    chat = _chat(request)
    message = request.world.messages.get((chat.id, request.number("message_id", 0) or 0))
    if message is None:
        raise RefusalError(400, "Bad Request: message to edit not found")
    if message["from"]["id"] != request.world.bot.id:
        raise RefusalError(400, "Bad Request: message can't be edited")
    text = str(request.params.get("text", "")).strip()
    if not text:
        raise RefusalError(400, "Bad Request: message text is empty")
    if units(text) > TEXT_LIMIT:
        raise RefusalError(400, "Bad Request: MESSAGE_TOO_LONG")
    if text == message.get("text"):
        raise RefusalError(
            400,
            "Bad Request: message is not modified: specified new message content and reply markup "
            "are exactly the same as a current content and reply markup of the message",
        )
    message |= {"text": text, "edit_date": int(time.time())}
    return message


async def edit_message_reply_markup(request: Request) -> Json:
    chat, number = _chat(request), request.number("message_id")
    message = request.world.messages.get((chat.id, number or 0))
    if message is None:
        raise RefusalError(400, "Bad Request: message to edit not found")
    if message["from"]["id"] != request.world.bot.id:
        raise RefusalError(400, "Bad Request: message can't be edited")
    keyboard = _keyboard(request)
    if keyboard == {name: message[name] for name in ("reply_markup",) if name in message}:
        raise RefusalError(
            400,
            "Bad Request: message is not modified: specified new message content and reply markup "
            "are exactly the same as a current content and reply markup of the message",
        )
    message.pop("reply_markup", None)
    message |= keyboard
    return message


async def send_chat_action(request: Request) -> bool:
    chat = _chat(request)
    # Unlike a message, an action in the General topic does name the topic.
    if request.number("message_thread_id") != 1:
        _thread(request, chat)
    return True


async def set_my_commands(request: Request) -> bool:
    commands = request.parsed("commands")
    if not isinstance(commands, list) or len(commands) > 100:
        raise RefusalError(400, "Bad Request: can't parse commands")
    return True


async def answer_callback_query(request: Request) -> bool:
    query = str(request.params.get("callback_query_id", ""))
    if query not in request.world.presses:
        raise RefusalError(
            400, "Bad Request: query is too old and response timeout expired or query ID is invalid"
        )
    request.world.presses.discard(query)
    return True


async def get_file(request: Request) -> Json:
    file_id = str(request.params.get("file_id", ""))
    file = request.world.files.get(file_id)
    if file is None:
        raise RefusalError(400, "Bad Request: wrong file_id or the file is temporarily unavailable")
    if file.size > DOWNLOAD_LIMIT:
        raise RefusalError(400, "Bad Request: file is too big")
    return {"file_id": file_id, "file_size": file.size, "file_path": file.path}


def _chat(request: Request) -> Chat:
    world = request.world
    wanted = str(request.params.get("chat_id", ""))
    chat_id = int(wanted) if wanted.lstrip("-").isdigit() else 0
    if chat_id in world.migrated:
        raise RefusalError(
            400,
            "Bad Request: group chat was upgraded to a supergroup chat",
            {"migrate_to_chat_id": world.migrated[chat_id]},
        )
    if chat_id not in world.chats:
        raise RefusalError(400, "Bad Request: chat not found")
    if chat_id in world.blocked:
        raise RefusalError(403, "Forbidden: bot was blocked by the user")
    return world.chats[chat_id]


def _thread(request: Request, chat: Chat) -> int | None:
    thread = request.number("message_thread_id")
    if thread is not None and (chat.id, thread) not in request.world.topics:
        raise RefusalError(400, "Bad Request: message thread not found")
    return thread


def _check_format(request: Request, text: str, entities_name: str) -> None:
    mode = request.params.get("parse_mode")
    if mode is not None and mode not in ("HTML", "Markdown", "MarkdownV2"):
        raise RefusalError(400, "Bad Request: unsupported parse_mode")
    try:
        check_entities(request.parsed(entities_name) or [], text)
    except FormatError as error:
        raise RefusalError(400, f"Bad Request: can't parse entities: {error}") from None


METHODS: dict[str, Callable[[Request], Awaitable[Any]]] = {
    "getMe": get_me,
    "getUpdates": get_updates,
    "deleteWebhook": delete_webhook,
    "sendMessage": send_message,
    "sendDocument": send_document,
    "sendChatAction": send_chat_action,
    "editMessageText": edit_message_text,
    "editMessageReplyMarkup": edit_message_reply_markup,
    "setMyCommands": set_my_commands,
    "answerCallbackQuery": answer_callback_query,
    "getFile": get_file,
}
