"""From the content of a message to text and files. Pure, and fit for anything a server may send.

The shapes are those of the open platform's document on the content of received messages.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from channels.feishu.api import is_id
from channels.messages import Attachment

_FILE_NAME_LIMIT = 255
_MOST_ATTACHMENTS = 50
_DEEPEST = 24
_CARD_TEXT = (
    *("title", "subtitle", "header", "text", "content", "elements", "body", "columns", "fields", "value"),
    *("i18n_elements", "zh_cn", "en_us", "actions", "rows", "items", "extra"),
)
"""Where cards have words, in the order people read them."""


class MalformedContentError(ValueError):
    """Content that is not what its type says. The text holds nothing of it."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a message holds.

    Args:
        text: Its text, with placeholders where people are mentioned.
        attachments: Its files.
    """

    text: str = ""
    attachments: tuple[Attachment, ...] = ()


def read_content(kind: str, content: str, message_id: str) -> Content:
    """Read a message's content.

    Args:
        kind: The message type.
        content: JSON, as it came.
        message_id: Names the message that files are fetched from.

    Raises:
        MalformedContentError: It cannot be understood.
    """
    body = _parse(content)
    match kind:
        case "text":
            return Content(_string(body, "text"))
        case "post":
            return _post(body, message_id)
        case "image":
            return Content("", _files(message_id, [_image(body, "")]))
        case "file":
            return Content(
                "", _files(message_id, [("file", _string(body, "file_key"), _string(body, "file_name"))])
            )
        case "audio":
            return Content("", _files(message_id, [("file", _string(body, "file_key"), "voice.opus")]))
        case "media":
            name = _string(body, "file_name", "") or "video.mp4"
            return Content("", _files(message_id, [("file", _string(body, "file_key"), name)]))
        case "interactive":
            return Content(_card_text(body) or "[a card without text]")
        case "location":
            return Content(f"[a place: {_string(body, 'name', '')}]")
    return Content(f"[a message of the kind {_plain(kind)}, which cannot be read here]")


def join_ref(message_id: str, kind: str, key: str) -> str:
    """What :func:`split_ref` takes apart."""
    return f"{message_id}/{kind}/{key}"


def split_ref(ref: str) -> tuple[str, str, str]:
    """Message id, kind (``image`` or ``file``) and key of an attachment.

    Raises:
        ValueError: It is no such reference.
    """
    message_id, kind, key = ref.split("/")
    if kind not in ("image", "file") or not (is_id(message_id) and is_id(key)):
        raise ValueError("not a reference to a file in a message")
    return message_id, kind, key


def _parse(content: str) -> Mapping[str, Any]:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        raise MalformedContentError("the content is not JSON") from None
    if not isinstance(body, dict):
        raise MalformedContentError("the content is not an object")
    return body


def _string(body: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = body.get(name, default)
    if not isinstance(value, str):
        raise MalformedContentError(f"{name} is missing or not text")
    return value


def _plain(text: str) -> str:
    return "".join(char for char in text[:40] if char.isalnum() or char in "_- ")


def _image(body: Mapping[str, Any], name: str) -> tuple[str, str, str]:
    return ("image", _string(body, "image_key"), name)


def _files(message_id: str, found: list[tuple[str, str, str]]) -> tuple[Attachment, ...]:
    """Attachments; pictures, which have no names, are numbered."""
    attachments = []
    for number, (kind, key, name) in enumerate(found[:_MOST_ATTACHMENTS], 1):
        if not is_id(key):
            raise MalformedContentError("the key of a file is none")
        shown = name or (f"image-{number}.png" if kind == "image" else f"file-{number}")
        attachments.append(Attachment(shown[:_FILE_NAME_LIMIT], join_ref(message_id, kind, key)))
    return tuple(attachments)


def _post(body: Mapping[str, Any], message_id: str) -> Content:
    """Rich text: lines of marked pieces. What is sent has it once per language, what is received once."""
    if "content" not in body:
        body = next((value for value in body.values() if isinstance(value, dict)), {})
    lines: list[str] = []
    files: list[tuple[str, str, str]] = []
    title = body.get("title")
    if isinstance(title, str) and title.strip():
        lines.append(title)
    rows = body.get("content")
    if not isinstance(rows, list):
        raise MalformedContentError("a post without lines")
    for row in rows:
        pieces = [piece for piece in row if isinstance(piece, dict)] if isinstance(row, list) else []
        lines.append("".join(_piece(piece) for piece in pieces))
        files += [found for piece in pieces for found in _piece_files(piece)]
    return Content("\n".join(lines).strip(), _files(message_id, files))


def _piece(piece: Mapping[str, Any]) -> str:
    text = piece.get("text")
    text = text if isinstance(text, str) else ""
    match piece.get("tag"):
        case "text" | "md":
            return text
        case "a":
            href = piece.get("href")
            return f"[{text}]({href})" if isinstance(href, str) and href and href != text else text
        case "at":
            key = piece.get("user_id")
            if key == "all":
                return "@_all"
            if isinstance(key, str) and key.startswith("@_"):
                return key
            name = piece.get("user_name")
            return f"@{name}" if isinstance(name, str) else "@someone"
        case "code_block":
            language = piece.get("language")
            return f"```{language.lower() if isinstance(language, str) else ''}\n{text.rstrip()}\n```"
        case "emotion":
            kind = piece.get("emoji_type")
            return f":{kind}:" if isinstance(kind, str) else ""
        case "hr":
            return "---"
    return ""


def _piece_files(piece: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    match piece:
        case {"tag": "img", "image_key": str(key)}:
            yield ("image", key, "")
        case {"tag": "media", "file_key": str(key)}:
            yield ("file", key, "video.mp4")


def _card_text(body: Mapping[str, Any]) -> str:
    """The words on a card, of either version, one piece a line."""
    return "\n".join(line for line in _card_pieces(body, 0) if line)


def _card_pieces(node: object, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(node, str):
        yield node.strip()
    elif isinstance(node, list):
        for item in node:
            if not isinstance(item, str):
                yield from _card_pieces(item, depth + 1)
    elif isinstance(node, dict):
        if node.get("tag") == "at":
            yield _piece(node)
            return
        for name in _CARD_TEXT:
            if name == "value" and "tag" in node:
                continue  # what a button sends back
            if name in node:
                yield from _card_pieces(node[name], depth + 1)
