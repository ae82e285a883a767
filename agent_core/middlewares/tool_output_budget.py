"""Keeps large tool results out of the model's context: the whole goes to a file, head and tail stay."""

import asyncio
import hashlib
import logging
import re
from dataclasses import dataclass
from typing import Any

from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from agent_core.context import RunContext
from agent_core.middlewares.layer import Layer, ToolHandler, ToolResult, context_of
from agent_core.paths import WORKSPACE, PathRefusedError

_log = logging.getLogger(__name__)

FOLDER = f"{WORKSPACE}/tool-results"

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class OutputBudget:
    """How much of a tool's result the model sees.

    Args:
        characters: Longer results are put into a file.
        head: Characters kept from the beginning.
        tail: Characters kept from the end.
        without_file: Characters kept, head and tail together, when no file could be written.
        exempt: Tools that keep their own limit. Whoever reads the file must not be sent to it again.
    """

    characters: int = 12_000
    head: int = 2_000
    tail: int = 1_000
    without_file: int = 30_000
    exempt: tuple[str, ...] = ("read_file",)


class ToolOutputBudgetMiddleware(Layer):
    """Shortens the results of tools."""

    before = ("ToolErrorHandlingMiddleware",)

    def __init__(self, budget: OutputBudget) -> None:
        super().__init__()
        self._budget = budget

    async def awrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> ToolResult:
        """Call the tool and shorten what it gives."""
        result = await handler(request)
        if request.tool_call["name"] in self._budget.exempt:
            return result
        context = context_of(request)
        if isinstance(result, ToolMessage):
            return await self._shortened(result, context)
        if isinstance(result.update, dict) and "messages" in result.update:
            messages = [
                await self._shortened(m, context) if isinstance(m, ToolMessage) else m
                for m in result.update["messages"]
            ]
            return Command(
                graph=result.graph,
                goto=result.goto,
                resume=result.resume,
                update={**result.update, "messages": messages},
            )
        return result

    async def _shortened(self, message: ToolMessage, context: RunContext) -> ToolMessage:
        text = _text_of(message.content)
        if text is None or len(text) <= self._budget.characters:
            return message
        data = text.encode(errors="replace")
        path = f"{FOLDER}/{file_name(message, data)}"
        try:
            await asyncio.to_thread(context.files.write, path, data)
        except (PathRefusedError, OSError):
            _log.warning("a tool result of %d characters could not be written to a file", len(text))
            half = self._budget.without_file // 2
            note = f"\n\n(… {{left}} of {len(text)} characters left out …)\n\n"
            return message.model_copy(update={"content": excerpt(text, half, half, note)})
        note = (
            f"\n\n(… {{left}} of {len(text)} characters left out; the whole is in {path}. Read the parts "
            "you need with read_file. …)\n\n"
        )
        short = excerpt(text, self._budget.head, self._budget.tail, note)
        return message.model_copy(update={"content": short})


def excerpt(text: str, head: int, tail: int, note: str) -> str:
    """Give both ends of a text with ``note`` between, its ``{left}`` filled in. Pure."""
    if len(text) <= head + tail:
        return text
    return text[:head] + note.format(left=len(text) - head - tail) + text[len(text) - tail :]


def file_name(message: ToolMessage, data: bytes) -> str:
    """Give the name of the file a result goes to. Pure.

    By what is in it too: some providers give the same ids to calls of every message, and subagents work
    beside each other in one folder.
    """
    name = _UNSAFE.sub("-", f"{message.name or 'tool'}-{message.tool_call_id}")
    return f"{name[:100]}-{hashlib.sha256(data).hexdigest()[:8]}.txt"


def _text_of(content: Any) -> str | None:
    """Give the text of a result; None when it holds something else, such as a picture."""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for block in content:
        text = block if isinstance(block, str) else block.get("text")
        if not isinstance(text, str):
            return None
        texts.append(text)
    return "\n".join(texts)
