"""Tools that find files and text in them."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Annotated, TypeVar

import regex
from langchain.tools import ToolRuntime
from langchain_core.tools import tool
from pydantic import Field

from agent_core.contained import Entry, EntryKind
from agent_core.context import RunContext
from agent_core.globs import Glob, GlobError
from agent_core.paths import VIRTUAL_ROOT, WORKSPACE, PathRefusedError, ThreadFiles, VirtualPath, virtual_path
from agent_core.tools.errors import FileToolError

MAX_LISTED = 500
MAX_FOUND = 200
MAX_CHARS = 20_000
MAX_LINE_CHARS = 300
MAX_WALKED = 100_000
MAX_GREP_BYTES = 5_000_000
SEARCH_SECONDS = 20.0
"""How long one search may take before it ends with what was found."""

# What tools make and people rarely mean.
_PASSED_OVER = frozenset({".git", "node_modules", "__pycache__", ".venv"})

_Result = TypeVar("_Result")


class Patience:
    """When a search in a thread has to end: after a time, or when nobody waits for it any more."""

    def __init__(self, seconds: float = SEARCH_SECONDS) -> None:
        self._until = time.monotonic() + seconds
        self.cancelled = threading.Event()

    @property
    def left(self) -> float:
        """Seconds; 0 when it is over."""
        return 0.0 if self.cancelled.is_set() else max(0.0, self._until - time.monotonic())


@tool
async def ls(
    runtime: ToolRuntime[RunContext],
    path: Annotated[str, Field(description="Which directory")] = VIRTUAL_ROOT,
) -> str:
    """List a directory: kind, size, time of change (UTC) and name of each entry."""
    return await asyncio.to_thread(_list, runtime.context.files, path)


@tool
async def glob(
    pattern: Annotated[str, Field(description="Such as **/*.csv; * and ? stay within a name", min_length=1)],
    runtime: ToolRuntime[RunContext],
    path: Annotated[str, Field(description="Where to look")] = WORKSPACE,
) -> str:
    """Find files by a pattern of their paths, below a directory."""
    return await _searching(lambda patience: _glob(runtime.context.files, path, pattern, patience))


@tool
async def grep(
    pattern: Annotated[str, Field(description="A regular expression", min_length=1, max_length=1_000)],
    runtime: ToolRuntime[RunContext],
    path: Annotated[str, Field(description="A directory to search, or one file")] = WORKSPACE,
    include: Annotated[str, Field(description="Only files that fit, such as *.py")] = "",
    ignore_case: Annotated[bool, Field(description="Take A for a")] = False,
) -> str:
    """Find lines in text files by a regular expression. Gives path, line number and line."""
    files = runtime.context.files
    return await _searching(lambda patience: _grep(files, path, pattern, include, ignore_case, patience))


async def _searching(search: Callable[[Patience], _Result]) -> _Result:
    patience = Patience()
    try:
        return await asyncio.to_thread(search, patience)
    finally:
        # The thread itself cannot be cancelled; it looks at this.
        patience.cancelled.set()


def shown(name: str) -> str:
    """A name from the disk as one line of valid text. Pure."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(char if char.isprintable() else "�" for char in text)


def _list(files: ThreadFiles, path: str) -> str:
    try:
        found = files.entries(path)
    except PathRefusedError as error:
        raise FileToolError(str(error)) from None
    if not found:
        return f"{path} is empty"
    lines = [_line(entry) for entry in found[:MAX_LISTED]]
    if len(found) > MAX_LISTED:
        lines.append(f"(and {len(found) - MAX_LISTED} more)")
    return "\n".join(lines)


def _line(entry: Entry) -> str:
    name = shown(entry.name)
    if not entry.modified:
        return f"{name}/"
    when = f"{datetime.fromtimestamp(entry.modified, UTC):%Y-%m-%d %H:%M}"
    match entry.kind:
        case EntryKind.DIRECTORY:
            return f"{when} {'-':>12} {name}/"
        case EntryKind.FILE:
            return f"{when} {entry.size:>12} {name}"
        case EntryKind.LINK:
            return f"{when} {'-':>12} {name} (symbolic link, not followed)"
        case _:
            return f"{when} {'-':>12} {name} (not a regular file)"


def _glob(files: ThreadFiles, path: str, pattern: str, patience: Patience) -> str:
    try:
        fits = Glob(pattern)
        found: list[str] = []
        for at, entry in _candidates(files, path, patience):
            if fits.matches(_below(path, at)):
                found.append(f"{shown(str(at))} ({entry.size} bytes)")
                if len(found) > MAX_FOUND:
                    break
    except (PathRefusedError, GlobError) as error:
        raise FileToolError(str(error)) from None
    if not found:
        return "No files fit." + _unfinished(patience)
    return _joined(found, patience)


def _grep(
    files: ThreadFiles, path: str, pattern: str, include: str, ignore_case: bool, patience: Patience
) -> str:
    try:
        wanted = regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
        fits = Glob(include) if include else None
        found: list[str] = []
        for at, _ in _candidates(files, path, patience):
            if fits is None or fits.matches(_below(path, at)):
                found.extend(_matches(files, at, wanted, MAX_FOUND + 1 - len(found), patience))
            if len(found) > MAX_FOUND:
                break
    except regex.error as error:
        raise FileToolError(f"the regular expression cannot be read: {error}") from None
    except (PathRefusedError, GlobError) as error:
        raise FileToolError(str(error)) from None
    if not found:
        return "No lines fit." + _unfinished(patience)
    return _joined(found, patience)


def _candidates(files: ThreadFiles, path: str, patience: Patience) -> Iterator[tuple[VirtualPath, Entry]]:
    given = virtual_path(path).parts
    for at, entry in files.walk(path, MAX_WALKED):
        if not patience.left:
            return
        if not _PASSED_OVER.intersection(at.parts[len(given) :]):
            yield at, entry


def _below(path: str, at: VirtualPath) -> str:
    return "/".join(at.parts[len(virtual_path(path).parts) :]) or at.name


def _matches(
    files: ThreadFiles, at: VirtualPath, wanted: "regex.Pattern[str]", most: int, patience: Patience
) -> list[str]:
    try:
        data = files.read(str(at), MAX_GREP_BYTES)
    except PathRefusedError:
        # Too large, gone, or with a name that no path can have.
        return []
    if b"\x00" in data[:8192]:
        return []
    found: list[str] = []
    for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
        if len(found) >= most or not patience.left:
            break
        try:
            # Without the interpreter's lock, so that a costly expression does not hold up all the rest.
            hit = wanted.search(line, timeout=patience.left or 0.001, concurrent=True)
        except TimeoutError:
            raise FileToolError("the regular expression takes too long; make it simpler") from None
        if hit:
            text = line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}…"
            found.append(f"{shown(str(at))}:{number}: {shown(text.expandtabs(4))}")
    return found


def _joined(found: list[str], patience: Patience) -> str:
    lines: list[str] = []
    size = 0
    for line in found[:MAX_FOUND]:
        size += len(line) + 1
        if size > MAX_CHARS:
            break
        lines.append(line)
    if len(lines) < len(found):
        lines.append("(there is more; narrow the search)")
    return "\n".join(lines) + _unfinished(patience)


def _unfinished(patience: Patience) -> str:
    return "" if patience.left else "\n(the search took too long and was ended)"
