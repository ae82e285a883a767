"""What to call for a message. Pure.

Text goes out as a card whose Markdown the platform renders itself. A card takes a limited number of
tables; text with more of them goes out as a post, and whatever a server refuses as both, as plain text.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from channels.errors import PermanentSendError
from channels.feishu.api import ApiCall, is_id
from channels.markdown.cutting import split_markdown
from channels.markdown.emphasis import GAP, mend_emphasis, most_gaps
from channels.messages import Button, OutboundMessage
from channels.text import REPEAT_MARK

CARD_LIMIT = 30 * 1024
"""Bytes of a card or a post (open platform, "send messages")."""

TEXT_LIMIT = 28 * 1024
"""Bytes of text in one message as JSON has them, so that there is room for what is around it."""

LABEL_LIMIT = 100
"""Characters on a button, so that a row of them stays readable."""

TABLES_PER_CARD = 5
"""Tables that one card may have; with more the platform refuses it (error 230099, ErrCode 11310)."""

_SMALLEST_SPLIT = 1024

_TAG = re.compile(r"<(?=\s*/?\s*(?:at|person)\b)", re.IGNORECASE)
_TABLE = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_ENTITY_GROWTH = len("&#60;") - len("<")
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Form:
    """One way to put a message.

    Args:
        kind: Message type.
        content: Content of that type, as JSON text.
    """

    kind: str
    content: str


def split(text: str) -> list[str]:
    """Cut text into pieces for one message each; blank pieces are left out, as the platform refuses them.

    A piece has no more tables than a card may have, unless they are very small.
    """
    return [piece for piece in _cut(text, TEXT_LIMIT) if piece.strip()]


def _cut(text: str, limit: int) -> list[str]:
    pieces: list[str] = []
    for piece in split_markdown(text, limit, _measure):
        if limit > _SMALLEST_SPLIT and count_tables(piece) > TABLES_PER_CARD:
            pieces += _cut(piece, limit // 2)
        else:
            pieces.append(piece)
    return pieces


def close_buttons(message_id: str, text: str, chosen: str) -> ApiCall:
    """The call that puts what was chosen in the place of a card's buttons.

    Args:
        message_id: The message that is the card.
        text: Its text.
        chosen: Label of the button that was pressed.

    Raises:
        PermanentSendError: The id is none of the platform's.
    """
    if not is_id(message_id):
        raise PermanentSendError("this is not the id of a Feishu message")
    note = {
        "tag": "div",
        "text": {"tag": "plain_text", "content": f"✓ {_label(chosen)}", "text_size": "notation"},
    }
    card = _card(neutralise(mend_emphasis(_LONE_SURROGATE.sub("\ufffd", text))), [note])
    return ApiCall("PATCH", f"/open-apis/im/v1/messages/{message_id}", body={"content": _json(card)})


def marked(text: str, possible_repeat: bool) -> str:
    """The text with a word that people may have seen it before."""
    return f"{REPEAT_MARK}\n\n{text}" if possible_repeat else text


def text_forms(text: str, buttons: Sequence[Button] = (), thread: str | None = None) -> tuple[Form, ...]:
    """The ways to post a text, best first. Only a card has buttons; the text says all that they do.

    Args:
        text: Markdown.
        buttons: What can be pressed below it.
        thread: The thread it goes into, which a press does not tell.
    """
    clean = _LONE_SURROGATE.sub("\ufffd", text)
    quiet = neutralise(mend_emphasis(clean))
    card = _card(quiet, _keys(buttons, thread))
    post = {"zh_cn": {"content": [[{"tag": "md", "text": quiet}]]}}
    # In plain text nothing would turn an entity back into a bracket.
    plain = {"text": _TAG.sub("＜", clean)}
    forms = (_form("interactive", card), _form("post", post), _form("text", plain))
    return forms if count_tables(clean) <= TABLES_PER_CARD else forms[1:]


def _card(text: str, below: list[dict[str, Any]]) -> dict[str, Any]:
    """A card of Markdown and what stands below it (card JSON 2.0)."""
    return {
        "schema": "2.0",
        "config": {"update_multi": True},
        "body": {"elements": [{"tag": "markdown", "content": text}, *below]},
    }


def _label(label: str) -> str:
    return _LONE_SURROGATE.sub("\ufffd", label)[:LABEL_LIMIT]


def _keys(buttons: Sequence[Button], thread: str | None) -> list[dict[str, Any]]:
    """Buttons of a card (card JSON 2.0, "button")."""
    more = {} if thread is None else {"thread": thread}
    return [
        {
            "tag": "button",
            "text": {"tag": "plain_text", "content": _label(button.label)},
            "behaviors": [{"type": "callback", "value": {"hart": button.id, **more}}],
        }
        for button in buttons
    ]


def neutralise(text: str) -> str:
    """Text in which no tag mentions people: a model must not be able to call everyone."""
    return _TAG.sub("&#60;", text)


def count_tables(text: str) -> int:
    """How many Markdown tables a text has, outside of code."""
    tables = 0
    fence = ""
    previous = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and "|" in previous and "-" in line and _TABLE.match(line):
            tables += 1
        previous = line
    return tables


def idempotency_key(key: str) -> str:
    """A delivery's key in the form of a ``uuid``: at most 50 characters; good for an hour."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def destinations(message: OutboundMessage) -> tuple[ApiCall, ...]:
    """Where to post, best first: as an answer to the message, in its thread, in the chat.

    A message that is to be answered may have been withdrawn. What belongs into a thread never goes
    into the open chat.

    Raises:
        PermanentSendError: The address is none of the platform's.
    """
    address = message.address
    thread = address.platform_thread
    if not is_id(address.chat_id) or (thread is not None and not is_id(thread)):
        raise PermanentSendError("the address is not one that Feishu can have")
    uuid = idempotency_key(message.key)
    targets = [message.reply_to, thread]
    answered = dict.fromkeys(one for one in targets if one is not None and is_id(one))
    calls = [
        ApiCall(
            "POST",
            f"/open-apis/im/v1/messages/{target}/reply",
            body={"reply_in_thread": thread is not None, "uuid": uuid},
        )
        for target in answered
    ]
    if thread is None:
        body = {"receive_id": address.chat_id, "uuid": uuid}
        calls.append(
            ApiCall("POST", "/open-apis/im/v1/messages", query={"receive_id_type": "chat_id"}, body=body)
        )
    return tuple(calls)


def _form(kind: str, content: dict[str, Any]) -> Form:
    return Form(kind, _json(content))


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False)


def _measure(text: str) -> int:
    """Bytes that a text may take as it goes out; each bracket may become an entity, emphasis may get gaps."""
    encoded = json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return len(encoded) - 2 + text.count("<") * _ENTITY_GROWTH + most_gaps(text) * len(GAP.encode())
