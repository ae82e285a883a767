"""The words people would see of a message of the bot."""

from typing import Any


def words_of(kind: str, content: dict[str, Any]) -> str:
    """Text of a text, post or card; entities as people see them."""
    match kind:
        case "text":
            return str(content["text"])
        case "post":
            body = next(iter(content.values()))
            pieces = [piece for line in body["content"] for piece in line]
            return _shown("".join(str(piece.get("text", "")) for piece in pieces))
        case "interactive":
            elements = content["body"]["elements"]
            words = [one["content"] if one["tag"] == "markdown" else _note(one) for one in elements]
            return _shown("\n".join(word for word in words if word))
    return ""


def _note(element: dict[str, Any]) -> str:
    """Words of plain text; those on a button are no part of a message's."""
    return str(element["text"]["content"]) if element["tag"] == "div" else ""


def _shown(text: str) -> str:
    return text.replace("&#60;", "<")
