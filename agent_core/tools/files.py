"""Tools for the thread's own files."""

import asyncio
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from langchain.tools import ToolRuntime
from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.tools import BaseTool, ToolException, tool
from pydantic import Field

from agent_core.context import RunContext
from agent_core.events import PresentedFile
from agent_core.paths import OUTPUTS, VIRTUAL_ROOT, PathRefusedError, ThreadFiles

MAX_WRITE_BYTES = 5_000_000
MAX_READ_CHARS = 30_000
MAX_READ_LINES = 2_000
MAX_LINE_CHARS = 2_000
MAX_PRESENTED = 20
# Larger files are refused by read_file; a sandbox tool is the right one for them.
MAX_READ_BYTES = 20_000_000


class FileToolError(ToolException):
    """A file tool could not do what was asked; words for the model, without real paths."""


@tool
async def write_file(
    path: Annotated[str, Field(description=f"Where to write, such as {OUTPUTS}/report.md")],
    content: Annotated[str, Field(description="The whole content of the file")],
    runtime: ToolRuntime[RunContext],
) -> str:
    """Write a text file, replacing what was there. Directories are made as needed."""
    return await asyncio.to_thread(_write, runtime.context.files, path, content)


@tool
async def read_file(
    path: Annotated[str, Field(description="Which file, such as /mnt/user-data/uploads/notes.txt")],
    runtime: ToolRuntime[RunContext],
    offset: Annotated[int, Field(description="First line to read, counted from 1", ge=1)] = 1,
    limit: Annotated[int, Field(description="How many lines to read", ge=1, le=MAX_READ_LINES)] = 1_000,
) -> str:
    """Read a text file, or a part of it by line numbers."""
    return await asyncio.to_thread(_read, runtime.context.files, path, offset, limit)


@tool(response_format="content_and_artifact")
async def present_files(
    paths: Annotated[
        list[str],
        Field(
            description=f"Paths below {OUTPUTS}, in the order to show", min_length=1, max_length=MAX_PRESENTED
        ),
    ],
    runtime: ToolRuntime[RunContext],
) -> tuple[str, list[dict[str, str]]]:
    """Give files to the people in the chat. Only files below /mnt/user-data/outputs can be given."""
    presented = await asyncio.to_thread(_present, runtime.context.files, paths)
    names = ", ".join(file.name for file in presented)
    # Plain types: what a message carries goes through the checkpoint.
    return f"Presented: {names}", [{"path": file.path, "name": file.name} for file in presented]


def file_tools() -> list[BaseTool]:
    """Give the file tools, in the order the model sees them."""
    return [write_file, read_file, present_files]


def presented_files(messages: Sequence[AnyMessage]) -> tuple[PresentedFile, ...]:
    """Give all files presented in ``messages``, in order, each once. Pure."""
    found: dict[str, PresentedFile] = {}
    for message in messages:
        if not (isinstance(message, ToolMessage) and message.name == present_files.name):
            continue
        if message.status == "error" or not isinstance(message.artifact, list):
            continue
        for entry in message.artifact:
            found.setdefault(entry["path"], PresentedFile(entry["path"], entry["name"]))
    return tuple(found.values())


def _refused(error: PathRefusedError) -> FileToolError:
    return FileToolError(str(error))


def _write(files: ThreadFiles, virtual: str, content: str) -> str:
    data = content.encode("utf-8", errors="replace")
    if len(data) > MAX_WRITE_BYTES:
        raise FileToolError(f"the content has {len(data)} bytes; at most {MAX_WRITE_BYTES} can be written")
    try:
        path = files.real(virtual)
    except PathRefusedError as error:
        raise _refused(error) from None
    if path.parent == files.root or path.is_dir():
        raise FileToolError(f"{virtual}: is a directory")
    try:
        # Here and not at the start of each run, most of which write nothing.
        files.ensure()
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, data)
    except OSError as error:
        # The error's own text names the real path.
        raise FileToolError(f"{virtual}: cannot be written ({os.strerror(error.errno or 0)})") from None
    return f"Wrote {len(data)} bytes to {virtual}"


def _replace(path: Path, data: bytes) -> None:
    """Write beside and rename, so that a crash leaves the old content or the new, never half."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # Atomic; replaces a symbolic link instead of following it.
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _read(files: ThreadFiles, virtual: str, offset: int, limit: int) -> str:
    try:
        path = files.existing_file(virtual)
    except PathRefusedError as error:
        raise _refused(error) from None
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            data = file.read(MAX_READ_BYTES + 1)
    except OSError as error:
        raise FileToolError(f"{virtual}: cannot be read ({os.strerror(error.errno or 0)})") from None
    if len(data) > MAX_READ_BYTES:
        raise FileToolError(f"{virtual}: is larger than {MAX_READ_BYTES} bytes")
    if b"\x00" in data[:8192]:
        raise FileToolError(f"{virtual}: is not a text file ({len(data)} bytes)")
    return _excerpt(data.decode("utf-8-sig", errors="replace"), offset, limit)


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


def _present(files: ThreadFiles, virtuals: Sequence[str]) -> list[PresentedFile]:
    presented: list[PresentedFile] = []
    for virtual in virtuals:
        try:
            path = files.existing_file(virtual)
        except PathRefusedError as error:
            raise _refused(error) from None
        inside = path.relative_to(files.root)
        if inside.parts[0] != "outputs":
            raise FileToolError(f"{virtual}: only files below {OUTPUTS} can be presented")
        # The path as it is, not as it was spelt, so that one file counts once.
        presented.append(PresentedFile(f"{VIRTUAL_ROOT}/{inside.as_posix()}", path.name))
    return presented
