"""What to call for a message. Pure."""

import re
from collections.abc import Sequence

from channels.errors import PermanentSendError
from channels.messages import Address, Button, OutboundFile, OutboundMessage, OutboundText
from channels.telegram.api import ApiCall, Json, Upload
from channels.text import split_text, utf16_length

MESSAGE_LIMIT = 4096
"""UTF-16 code units in one message (Bot API ``sendMessage``)."""

REPEAT_MARK = "(You may have got this already: the connection broke while it was being sent.)"

TEXT_LIMIT = MESSAGE_LIMIT - utf16_length(REPEAT_MARK + "\n\n")
"""UTF-16 code units of text in one message, so that there is always room for the repeat mark."""

LABEL_LIMIT = 64
"""Characters of a button's label; Telegram cuts longer ones where the screen ends."""

GENERAL_TOPIC = "1"
"""Id of a forum's General topic: messages to it must be sent without a thread id."""

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
# A quotation mark would reach people as %22, the form that multipart bodies have for it.
_UNFIT_FOR_NAME = re.compile(r'[\x00-\x1f"\ud800-\udfff]')
_INTEGER = re.compile(r"-?[0-9]{1,19}")


def split(text: str) -> list[str]:
    """Cut text into pieces for one message each; blank pieces are left out, as Telegram refuses them."""
    return [piece for piece in split_text(text, TEXT_LIMIT, utf16_length) if piece.strip()]


def render(message: OutboundMessage) -> ApiCall:
    """The call that posts a message.

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
            marked = f"{REPEAT_MARK}\n\n{text}" if message.possible_repeat else text
            params["text"] = _LONE_SURROGATE.sub("\ufffd", marked)
            if buttons:
                params["reply_markup"] = keyboard(buttons)
            return ApiCall("sendMessage", params)
        case OutboundFile(path, name, mime):
            if message.possible_repeat:
                params["caption"] = REPEAT_MARK
            shown = _UNFIT_FOR_NAME.sub("_", name)
            return ApiCall("sendDocument", params, Upload("document", path, shown, mime))


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
