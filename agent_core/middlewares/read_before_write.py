"""Lets a file be changed only in the version that the model knows."""

import asyncio
from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import AnyMessage, ToolMessage

from agent_core.context import RunContext
from agent_core.file_version import version_of
from agent_core.middlewares.layer import Layer, ToolHandler, ToolResult
from agent_core.paths import PathRefusedError, ThreadFiles, VirtualPath, virtual_path
from agent_core.tools.files import MAX_READ_BYTES, read_file, str_replace, write_file

_WRITERS = (write_file.name, str_replace.name)
_SPEAKERS = (read_file.name, *_WRITERS)

# Of the process and not of a layer: an agent and its subagents have a chain each. Two calls must not both
# find a file as they knew it and then both write.
_locks: WeakValueDictionary[tuple[ThreadFiles, VirtualPath], asyncio.Lock] = WeakValueDictionary()

UNREAD = "exists and you have not read it; read it first, then change it"
CHANGED = "has changed since you read it; read it again, then change it"


class ReadBeforeWriteMiddleware(Layer):
    """Refuses to replace or edit a file that was not read, or that has changed since.

    What the model knows is what the tool results say that it still has before it: a result that was
    summarized away counts no more, and neither does what somebody else has read.
    """

    before = ("ToolErrorHandlingMiddleware", "FenceMiddleware")

    async def awrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> ToolResult:
        """Look whether the file is as the model knows it; change it or answer for it."""
        call = request.tool_call
        path = _path(call["args"].get("path")) if call["name"] in _WRITERS else None
        context: Any = request.runtime.context
        if path is None or not isinstance(context, RunContext):
            return await handler(request)
        lock = _locks.setdefault((context.files, path), asyncio.Lock())
        async with lock:
            found = await asyncio.to_thread(_version, context.files, path)
            known = known_version(request.state.get("messages", ()), path)
            if call["args"].get("append"):
                result = await handler(request)
                return result if found in (None, known) else _without_version(result)
            refusal = _refusal(call["args"].get("content"), path, found, known)
            if refusal is None:
                return await handler(request)
        return ToolMessage(f"{path} {refusal}.", tool_call_id=call["id"], name=call["name"], status="error")


def _refusal(content: object, path: VirtualPath, found: str | None, known: str | None) -> str | None:
    """Why a file is not to be changed; None if it may be. Pure.

    Args:
        content: What is to be written, if that is a whole file.
        path: The file.
        found: The hash of what is there; None if nothing is.
        known: The hash of what the model knows; None if it knows nothing.
    """
    if found is None or found == known:
        return None
    if isinstance(content, str) and found == version_of(str(path), _encoded(content))["sha256"]:
        # Written already, before the process died that was to tell.
        return None
    return UNREAD if known is None else CHANGED


def _without_version(result: ToolResult) -> ToolResult:
    """Something was added to what the model does not know, so it does not know the whole."""
    return result.model_copy(update={"artifact": None}) if isinstance(result, ToolMessage) else result


def known_version(messages: Sequence[AnyMessage], path: VirtualPath) -> str | None:
    """The hash of a file's content as the latest tool result in ``messages`` tells it. Pure."""
    for message in reversed(messages):
        if isinstance(message, ToolMessage) and message.name in _SPEAKERS:
            version = message.artifact
            if isinstance(version, dict) and version.get("path") == str(path):
                known = version.get("sha256")
                return known if isinstance(known, str) else None
    return None


def _path(text: object) -> VirtualPath | None:
    """The path of a call; None for one that the tool will refuse itself."""
    if not isinstance(text, str):
        return None
    try:
        return virtual_path(text)
    except PathRefusedError:
        return None


def _version(files: ThreadFiles, path: VirtualPath) -> str | None:
    """The hash of what is there; None if nothing is, or what the tool will refuse itself."""
    try:
        return version_of(str(path), files.read(str(path), MAX_READ_BYTES))["sha256"]
    except PathRefusedError:
        return None


def _encoded(content: str) -> bytes:
    return content.encode("utf-8", errors="replace")
