"""Tools that read and write the thread's own files.

A result carries, beside its text, which version of the file it speaks of: the middleware
``read_before_write`` lets a file be changed only in the version that the model knows.
"""

import asyncio
from typing import Annotated

from langchain.tools import ToolRuntime
from langchain_core.tools import tool
from pydantic import Field

from agent_core.context import RunContext
from agent_core.file_version import FileVersion, version_of
from agent_core.paths import OUTPUTS, NoSuchFileError, PathRefusedError, ThreadFiles
from agent_core.tools.errors import FileToolError

MAX_WRITE_BYTES = 5_000_000
MAX_READ_CHARS = 30_000
MAX_READ_LINES = 2_000
MAX_LINE_CHARS = 2_000
# Larger files are refused by read_file; a sandbox tool is the right one for them.
MAX_READ_BYTES = 20_000_000


@tool(response_format="content_and_artifact")
async def read_file(
    path: Annotated[str, Field(description="Which file, such as /mnt/user-data/uploads/notes.txt")],
    runtime: ToolRuntime[RunContext],
    offset: Annotated[int, Field(description="First line to read, counted from 1", ge=1)] = 1,
    limit: Annotated[int, Field(description="How many lines to read", ge=1, le=MAX_READ_LINES)] = 1_000,
) -> tuple[str, FileVersion]:
    """Read a text file, or a part of it by line numbers."""
    return await asyncio.to_thread(_read, runtime.context.files, path, offset, limit)


@tool(response_format="content_and_artifact")
async def write_file(
    path: Annotated[str, Field(description=f"Where to write, such as {OUTPUTS}/report.md")],
    content: Annotated[str, Field(description="The whole content of the file, or what to add to it")],
    runtime: ToolRuntime[RunContext],
    append: Annotated[bool, Field(description="Add to the end instead of replacing")] = False,
) -> tuple[str, FileVersion]:
    """Write a text file, replacing what was there. Directories are made as needed.

    A file that exists must have been read before it is replaced.
    """
    return await asyncio.to_thread(_write, runtime.context.files, path, content, append)


@tool(response_format="content_and_artifact")
async def str_replace(
    path: Annotated[str, Field(description="Which file")],
    old_str: Annotated[str, Field(description="The text to replace, exactly as in the file", min_length=1)],
    new_str: Annotated[str, Field(description="What to put in its place")],
    runtime: ToolRuntime[RunContext],
    replace_all: Annotated[bool, Field(description="Replace every place, not just the only one")] = False,
) -> tuple[str, FileVersion]:
    """Replace text in a file that has been read. The text must be in the file exactly once, unless all
    places are replaced."""
    return await asyncio.to_thread(_replace, runtime.context.files, path, old_str, new_str, replace_all)


def _read(files: ThreadFiles, path: str, offset: int, limit: int) -> tuple[str, FileVersion]:
    try:
        data = files.read(path, MAX_READ_BYTES)
    except PathRefusedError as error:
        raise FileToolError(str(error)) from None
    if b"\x00" in data[:8192]:
        raise FileToolError(f"{path}: is not a text file ({len(data)} bytes)")
    text = _excerpt(data.decode("utf-8-sig", errors="replace"), offset, limit)
    return text, version_of(path, data)


def _excerpt(text: str, offset: int, limit: int) -> str:
    """Cut the asked lines out of ``text``, within the caps, and say what was left out. Pure."""
    lines = text.splitlines()
    if not lines:
        return "(the file is empty)"
    if offset > len(lines):
        raise FileToolError(f"the file has {len(lines)} lines; offset {offset} is behind its end")
    kept: list[str] = []
    size = 0
    for line in lines[offset - 1 : offset - 1 + limit]:
        short = line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}… (line cut)"
        size += len(short) + 1
        if kept and size > MAX_READ_CHARS:
            break
        kept.append(short)
    last = offset - 1 + len(kept)
    note = (
        f"\n(lines {offset} to {last} of {len(lines)}; go on with offset {last + 1})"
        if last < len(lines)
        else ""
    )
    return "\n".join(kept) + note


def _write(files: ThreadFiles, path: str, content: str, append: bool) -> tuple[str, FileVersion]:
    added = content.encode("utf-8", errors="replace")
    try:
        data = _present_content(files, path) + added if append else added
        _check_size(data)
        files.write(path, data)
    except PathRefusedError as error:
        raise FileToolError(str(error)) from None
    done = f"Added {len(added)} bytes to {path}" if append else f"Wrote {len(data)} bytes to {path}"
    return done, version_of(path, data)


def _present_content(files: ThreadFiles, path: str) -> bytes:
    try:
        return files.read(path, MAX_WRITE_BYTES)
    except NoSuchFileError:
        return b""


def _check_size(data: bytes) -> None:
    if len(data) > MAX_WRITE_BYTES:
        raise FileToolError(
            f"the file would have {len(data)} bytes; at most {MAX_WRITE_BYTES} can be written"
        )


def _replace(files: ThreadFiles, path: str, old: str, new: str, everywhere: bool) -> tuple[str, FileVersion]:
    try:
        text = files.read(path, MAX_WRITE_BYTES).decode()
        count = text.count(old)
        if count == 0:
            raise FileToolError(f"{path}: the text to replace is not in the file")
        if count > 1 and not everywhere:
            raise FileToolError(
                f"{path}: the text to replace is there {count} times; give more of what is around it, "
                "or replace all"
            )
        data = text.replace(old, new).encode("utf-8", errors="replace")
        _check_size(data)
        files.write(path, data)
    except PathRefusedError as error:
        raise FileToolError(str(error)) from None
    except UnicodeDecodeError:
        raise FileToolError(f"{path}: is not UTF-8 text") from None
    return f"Replaced {count} {'place' if count == 1 else 'places'} in {path}", version_of(path, data)
