"""What to call for a message. Pure."""

import re
from collections.abc import Callable, Sequence

import regex

from channels.errors import PermanentSendError
from channels.markdown.cutting import split_markdown
from channels.messages import Address, Button, OutboundFile, OutboundMessage, OutboundText
from channels.telegram.api import ApiCall, Json, Upload
from channels.telegram.formatting import Formatted, format_markdown
from channels.text import REPEAT_MARK, utf16_length

MESSAGE_LIMIT = 4096
"""UTF-16 code units in one message (Bot API ``sendMessage``)."""

TEXT_LIMIT = MESSAGE_LIMIT - utf16_length(REPEAT_MARK + "\n\n")
"""UTF-16 code units of text in one message, so that there is always room for the repeat mark."""

LABEL_LIMIT = 64
"""Characters of a button's label; Telegram cuts longer ones where the screen ends."""

GENERAL_TOPIC = "1"
"""Id of a forum's General topic: messages to it must be sent without a thread id."""

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
# A quotation mark would reach people as %22, the form that multipart bodies have for it.
_UNFIT_FOR_NAME = re.compile(r'[\x00-\x1f"\ud800-\udfff]')
_INVISIBLE = regex.compile(r"[\s\p{Zs}\p{Cc}\p{Cf}]*")
_MAY_GROW = re.compile(r"\||^[ \t>]*(?:[-+*_]|[0-9]{1,9}[.)])", re.MULTILINE)
_SMALLEST_SPLIT = 256
_INTEGER = re.compile(r"-?[0-9]{1,19}")


def split(text: str) -> list[str]:
    """Cut Markdown into pieces for one message each; blank ones are left out, as Telegram refuses them.

    A piece fits as it is written, and nearly always as it is shown, which can be longer: the columns of
    a table are filled up with spaces.
    """
    return [piece for piece in _cut(text, TEXT_LIMIT) if not _is_blank(piece)]


def _cut(text: str, limit: int) -> list[str]:
    pieces: list[str] = []
    for piece in split_markdown(text, limit, utf16_length):
        if limit > _SMALLEST_SPLIT and _grows(piece):
            pieces += _cut(piece, limit // 2)
        else:
            pieces.append(piece)
    return pieces


def _grows(piece: str) -> bool:
    """Whether a piece is too long once it is shown. Prose never is, and need not be tried."""
    return bool(_MAY_GROW.search(piece)) and utf16_length(format_markdown(piece).text) > TEXT_LIMIT


def formatted(text: str) -> Formatted:
    """A piece as it is shown: formatted, or as it is written where formatting would not do.

    Formatting can make a piece too long, and can leave nothing of it (an empty link).
    """
    shown = format_markdown(text)
    if _is_blank(shown.text) or utf16_length(shown.text) > TEXT_LIMIT:
        return unformatted(text)
    return shown


def unformatted(text: str) -> Formatted:
    """A piece as it is written."""
    return Formatted(_LONE_SURROGATE.sub("\ufffd", text))


def _is_blank(text: str) -> bool:
    return _INVISIBLE.fullmatch(text) is not None


def render(message: OutboundMessage, form: Callable[[str], Formatted] = formatted) -> ApiCall:
    """The call that posts a message.

    Args:
        message: What to post.
        form: How to show its text.

    Raises:
        PermanentSendError: The address has a thread that Telegram cannot have.
    """
    params = chat_params(message.address)
    if message.address.platform_thread == GENERAL_TOPIC:
        params.pop("message_thread_id")
    if message.reply_to is not None and _INTEGER.fullmatch(message.reply_to):
        params["reply_parameters"] = {
            "message_id": int(message.reply_to),
            "allow_sending_without_reply": True,
        }
    match message.content:
        case OutboundText(text, buttons):
            shown = form(text)
            if message.possible_repeat:
                shown = shown.after(f"{REPEAT_MARK}\n\n")
            params["text"] = shown.text
            if shown.entities:
                params["entities"] = [entity.as_json() for entity in shown.entities]
            if buttons:
                params["reply_markup"] = keyboard(buttons)
            return ApiCall("sendMessage", params)
        case OutboundFile(path, name, mime):
            if message.possible_repeat:
                params["caption"] = REPEAT_MARK
            upload = Upload("document", path, _UNFIT_FOR_NAME.sub("_", name), mime)
            return ApiCall("sendDocument", params, upload)


def remove_keyboard(address: Address, message_id: str) -> ApiCall:
    """The call that takes the buttons off a message (Bot API ``editMessageReplyMarkup``).

    Raises:
        PermanentSendError: The message or its place cannot be one of Telegram's.
    """
    if not _INTEGER.fullmatch(message_id):
        raise PermanentSendError("this is not the id of a Telegram message")
    place = chat_params(Address(address.channel, address.account, address.chat_id))
    return ApiCall("editMessageReplyMarkup", {**place, "message_id": int(message_id)})


def keyboard(buttons: Sequence[Button]) -> Json:
    """Buttons below a message, one in a row (Bot API ``InlineKeyboardMarkup``)."""
    return {
        "inline_keyboard": [
            [{"text": _LONE_SURROGATE.sub("\ufffd", button.label)[:LABEL_LIMIT], "callback_data": button.id}]
            for button in buttons
        ]
    }


def chat_params(address: Address) -> dict[str, Json]:
    """The parameters that name a chat and its topic, the General topic included.

    Raises:
        PermanentSendError: The thread is not one of Telegram's.
    """
    chat = address.chat_id
    params: dict[str, Json] = {"chat_id": int(chat) if _INTEGER.fullmatch(chat) else chat}
    if address.platform_thread is not None:
        if not _INTEGER.fullmatch(address.platform_thread):
            raise PermanentSendError("the thread of this address is not a Telegram topic id")
        params["message_thread_id"] = int(address.platform_thread)
    return params
