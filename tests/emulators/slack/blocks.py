"""Block Kit as far as a bot of chats needs it, and as strict as Slack's documents are."""

from typing import Any

from tests.emulators.slack.request import RefusalError
from tests.emulators.slack.world import Json

MOST_BLOCKS = 50
MOST_BUTTONS = 25
MOST_CONTEXT = 10
MARKDOWN_LIMIT = 12_000
LABEL_LIMIT = 75
VALUE_LIMIT = 2000
ID_LIMIT = 255
_CONTEXT_LIMIT = 3000


def check_blocks(blocks: Any) -> list[Json]:
    """The blocks of a message.

    Raises:
        RefusalError: Slack would not take them.
    """
    if not isinstance(blocks, list) or not 0 < len(blocks) <= MOST_BLOCKS:
        raise RefusalError("invalid_blocks_format")
    if len([one for one in blocks if isinstance(one, dict)]) != len(blocks):
        raise RefusalError("invalid_blocks_format")
    for block in blocks:
        match block:
            case {"type": "markdown", "text": str(text)} if text.strip():
                continue
            case {"type": "actions", "elements": list(elements)} if 0 < len(elements) <= MOST_BUTTONS:
                if all(_is_button(element) for element in elements):
                    continue
            case {"type": "context", "elements": list(elements)} if 0 < len(elements) <= MOST_CONTEXT:
                if all(_is_text(element, _CONTEXT_LIMIT) for element in elements):
                    continue
        raise RefusalError("invalid_blocks")
    if sum(len(str(block["text"])) for block in blocks if block["type"] == "markdown") > MARKDOWN_LIMIT:
        raise RefusalError("msg_blocks_too_long")
    ids = [element["action_id"] for block in blocks for element in _buttons(block)]
    if len(ids) != len(set(ids)):
        raise RefusalError("invalid_blocks")
    return blocks


def words_in(blocks: list[Json]) -> str:
    """The words that people read in blocks, without those on buttons."""
    words = []
    for block in blocks:
        match block:
            case {"type": "markdown", "text": str(text)}:
                words.append(text)
            case {"type": "context", "elements": list(elements)}:
                words.append(" ".join(str(element["text"]) for element in elements))
    return "\n".join(words)


def buttons_in(blocks: list[Json]) -> tuple[tuple[str, str, str], ...]:
    """Label, action id and value of each button."""
    return tuple(
        (element["text"]["text"], element["action_id"], element.get("value", ""))
        for block in blocks
        for element in _buttons(block)
    )


def _buttons(block: Json) -> list[Json]:
    elements: list[Json] = block["elements"] if block["type"] == "actions" else []
    return elements


def _is_button(element: Any) -> bool:
    match element:
        case {"type": "button", "text": {"type": "plain_text"} as label, "action_id": str(name), **more}:
            value = more.get("value", "")
            return (
                _is_text(label, LABEL_LIMIT)
                and 0 < len(name) <= ID_LIMIT
                and isinstance(value, str)
                and len(value) <= VALUE_LIMIT
            )
    return False


def _is_text(element: Any, limit: int) -> bool:
    match element:
        case {"type": "plain_text" | "mrkdwn", "text": str(text)}:
            return 0 < len(text) <= limit
    return False
