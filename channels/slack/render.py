"""What to call for a message. Pure."""

import re
from collections.abc import Sequence

from channels.errors import PermanentSendError
from channels.markdown.cutting import split_markdown
from channels.markdown.emphasis import mend_emphasis, most_gaps
from channels.messages import Address, Button, OutboundMessage, OutboundText
from channels.slack.api import ApiCall, Encoding, Json
from channels.text import REPEAT_MARK, utf16_length

MESSAGE_LIMIT = 12_000
"""Characters in ``markdown_text`` (Slack docs, ``chat.postMessage``); counted here as UTF-16 units, the
larger of the likely readings."""

TEXT_LIMIT = MESSAGE_LIMIT - len(REPEAT_MARK) - 2
"""Characters of text in one message, so that there is always room for the repeat mark."""

LABEL_LIMIT = 75
"""Characters on a button (Block Kit, "button")."""

BUTTONS_IN_BLOCK = 25
"""Buttons in one block (Block Kit, "actions")."""

BUTTON_PREFIX = "hart-"
"""How the ids of our buttons begin; what a button stands for is its value."""

_OPENING = r"(?:<|&lt;|&#0*60;|&#[xX]0*3[cC];)"
_CALL = re.compile(
    rf"({_OPENING})(?=\s*(?:(?i:!\s*(?:channel|here|everyone|group|subteam))|@\s*[UW][A-Z0-9]))"
)
_GAP = "\u200b"
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CHANNEL_ID = re.compile(r"[A-Z0-9]{2,31}")
_TIMESTAMP = re.compile(r"[0-9]{1,11}\.[0-9]{1,9}")
_UNFIT_FOR_NAME = re.compile(r"[\x00-\x1f\x7f/\\\ud800-\udfff]")


def split(text: str) -> list[str]:
    """Cut text into pieces for one message each; blank pieces are left out, as Slack refuses them."""
    return [piece for piece in split_markdown(text, TEXT_LIMIT, _most_rendered) if piece.strip()]


def quiet(text: str) -> str:
    """The text with nothing in it that would call people.

    Channel-wide calls, user groups and mentions get an invisible gap behind their bracket, also in code
    and links: it looks the same and calls nobody. What the model writes may come from a stranger.
    """
    return _CALL.sub(rf"\1{_GAP}", text)


def post_message(message: OutboundMessage, text: str, buttons: Sequence[Button] = ()) -> ApiCall:
    """The call that posts text, with buttons below it.

    Raises:
        PermanentSendError: The address cannot be one of Slack's.
    """
    said = _said(message, text)
    params: dict[str, Json] = {
        **place(message.address),
        **(
            {"text": said, "blocks": _blocks(said, keyboard(buttons))} if buttons else {"markdown_text": said}
        ),
        "unfurl_links": False,
        "unfurl_media": False,
    }
    return ApiCall("chat.postMessage", params)


def close_buttons(message: OutboundMessage, timestamp: str, chosen: str) -> ApiCall:
    """The call that puts what was chosen in the place of a message's buttons.

    Args:
        message: The message as it was posted; not a file.
        timestamp: Its name in the channel.
        chosen: Label of the button that was pressed.

    Raises:
        PermanentSendError: The address cannot be one of Slack's.
    """
    assert isinstance(message.content, OutboundText), "files have no buttons"
    said = _said(message, message.content.text)
    channel = place(message.address)["channel"]
    return ApiCall(
        "chat.update",
        {"channel": channel, "ts": timestamp, "text": said, "blocks": _blocks(said, _chosen(chosen))},
    )


def response(message: OutboundMessage, text: str, buttons: Sequence[Button]) -> dict[str, Json]:
    """What to post to a response URL, for the eyes of whoever gave the command."""
    said = _said(message, text)
    return {
        "response_type": "ephemeral",
        "replace_original": False,
        "text": said,
        "blocks": _blocks(said, keyboard(buttons)),
    }


def replacement(message: OutboundMessage, chosen: str) -> dict[str, Json]:
    """What to post to the response URL of a press, in the place of the message with the button."""
    assert isinstance(message.content, OutboundText), "files have no buttons"
    said = _said(message, message.content.text)
    return {"replace_original": True, "text": said, "blocks": _blocks(said, _chosen(chosen))}


def keyboard(buttons: Sequence[Button]) -> list[Json]:
    """Buttons as blocks."""
    elements: list[Json] = [
        {
            "type": "button",
            "text": {"type": "plain_text", "text": _label(button.label)},
            "action_id": f"{BUTTON_PREFIX}{number}",
            "value": button.id,
        }
        for number, button in enumerate(buttons)
    ]
    rows = range(0, len(elements), BUTTONS_IN_BLOCK)
    return [{"type": "actions", "elements": elements[row : row + BUTTONS_IN_BLOCK]} for row in rows]


def _said(message: OutboundMessage, text: str) -> str:
    marked = f"{REPEAT_MARK}\n\n{text}" if message.possible_repeat else text
    return quiet(mend_emphasis(_LONE_SURROGATE.sub("\ufffd", marked)))


def _blocks(said: str, below: list[Json]) -> list[Json]:
    """A message of blocks (Block Kit, "markdown"): text in its own right takes no buttons beside it."""
    return [{"type": "markdown", "text": said}, *below]


def _chosen(label: str) -> list[Json]:
    return [{"type": "context", "elements": [{"type": "plain_text", "text": f"✓ {_label(label)}"}]}]


def _label(label: str) -> str:
    return _LONE_SURROGATE.sub("\ufffd", label)[:LABEL_LIMIT]


def upload_url(name: str, size: int) -> ApiCall:
    """The call that asks where a file's bytes may go.

    Args:
        name: The name people see.
        size: Bytes.
    """
    return ApiCall(
        "files.getUploadURLExternal", {"filename": shown_name(name), "length": size}, Encoding.FORM
    )


def complete_upload(message: OutboundMessage, files: str) -> ApiCall:
    """The call that posts an uploaded file.

    Args:
        message: What it is part of.
        files: The files, as JSON.

    Raises:
        PermanentSendError: The address cannot be one of Slack's.
    """
    where = place(message.address)
    params: dict[str, Json] = {"files": files, "channel_id": where.pop("channel"), **where}
    if message.possible_repeat:
        params["initial_comment"] = REPEAT_MARK
    return ApiCall("files.completeUploadExternal", params, Encoding.FORM)


def reaction(method: str, address: Address, timestamp: str, emoji: str) -> ApiCall:
    """The call that adds or removes a reaction."""
    params: dict[str, Json] = {"channel": address.chat_id, "timestamp": timestamp, "name": emoji}
    return ApiCall(method, params, Encoding.FORM)


def place(address: Address) -> dict[str, Json]:
    """The parameters that name a channel and a thread in it.

    Raises:
        PermanentSendError: The address cannot be one of Slack's.
    """
    if not _CHANNEL_ID.fullmatch(address.chat_id):
        raise PermanentSendError("the chat of this address is not a Slack channel id")
    params: dict[str, Json] = {"channel": address.chat_id}
    if address.platform_thread is not None:
        if not is_timestamp(address.platform_thread):
            raise PermanentSendError("the thread of this address is not a Slack timestamp")
        params["thread_ts"] = address.platform_thread
    return params


def is_timestamp(value: str) -> bool:
    """True for what can name a message in a channel."""
    return _TIMESTAMP.fullmatch(value) is not None


def shown_name(name: str) -> str:
    """A file name without what could be taken for a path or breaks a line."""
    return _UNFIT_FOR_NAME.sub("_", name).strip() or "file"


def _most_rendered(text: str) -> int:
    """The length with a gap behind every sign that could open a call, and those that emphasis may need.

    Adds up when texts are joined.
    """
    return utf16_length(text) + text.count("<") + text.count("&") + most_gaps(text)
