"""Where a thread's files are: virtual paths for the model, real ones for the code.

The model sees ``/mnt/user-data/{uploads,workspace,outputs}`` and ``/mnt/skills``, and nothing else. A
real path never appears in a tool result or an error.

Programs in a sandbox work in the same folders while this process reads and writes them, and may put
links and pipes where it expects files. So a path is never checked first and used later: each folder on
the way is opened from the one before, without following links, and files are used through what was
opened.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from agent_core import contained
from agent_core.contained import Entry, EntryKind

VIRTUAL_ROOT = "/mnt/user-data"
AREAS = ("uploads", "workspace", "outputs")
OUTPUTS = f"{VIRTUAL_ROOT}/outputs"
UPLOADS = f"{VIRTUAL_ROOT}/uploads"
WORKSPACE = f"{VIRTUAL_ROOT}/workspace"
SKILLS = "/mnt/skills"

_WRITABLE = ("workspace", "outputs")

# Limits of common file systems, in bytes of UTF-8.
_NAME_MAX = 255
_PATH_MAX = 1024


class PathRefusedError(ValueError):
    """A virtual path that is not allowed or does not lead to a file; words for the model."""


class NoSuchFileError(PathRefusedError):
    """There is nothing at a virtual path."""


@dataclass(frozen=True, slots=True)
class VirtualPath:
    """A checked virtual path.

    Args:
        base: ``/mnt/user-data`` or ``/mnt/skills``.
        parts: The names below it; empty for the base itself.
    """

    base: str
    parts: tuple[str, ...]

    def __str__(self) -> str:
        return "/".join((self.base, *self.parts))

    def below(self, *parts: str) -> "VirtualPath":
        """The path of something below this one."""
        return VirtualPath(self.base, (*self.parts, *parts))

    @property
    def name(self) -> str:
        """The last part."""
        return self.parts[-1] if self.parts else ""


def virtual_path(text: str) -> VirtualPath:
    """Check a path as the model wrote it. Pure.

    Raises:
        PathRefusedError: It is not below one of the virtual folders, or no path a file can have.
    """
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise PathRefusedError("the path holds control characters")
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        raise PathRefusedError("the path is not valid text") from None
    if len(encoded) > _PATH_MAX:
        raise PathRefusedError("the path is too long")
    shown = text or "(empty)"
    for base in (VIRTUAL_ROOT, SKILLS):
        if text == base or text.startswith(f"{base}/"):
            break
    else:
        raise PathRefusedError(f"{shown}: only paths below {VIRTUAL_ROOT} and {SKILLS} can be used")
    raw = text[len(base) :].split("/")
    if ".." in raw:
        raise PathRefusedError(f"{shown}: '..' is not allowed")
    parts = PurePosixPath(*raw).parts if any(raw) else ()
    parts = tuple(part for part in parts if part != "/")
    if base == VIRTUAL_ROOT and parts and parts[0] not in AREAS:
        raise PathRefusedError(f"{shown}: choose a place below {', '.join(f'{base}/{a}' for a in AREAS)}")
    if any(len(part.encode()) > _NAME_MAX for part in parts):
        raise PathRefusedError(f"{shown}: a part of the path is too long")
    return VirtualPath(base, parts)


@dataclass(frozen=True, slots=True)
class ThreadFiles:
    """The files of one thread. Every method blocks on the disk.

    Args:
        root: Real directory that holds ``uploads``, ``workspace`` and ``outputs``.
        skills: Real directory behind ``/mnt/skills``, which is only read; None when there is none.
    """

    root: Path
    skills: Path | None = None

    def ensure(self) -> None:
        """Make the directories that are missing."""
        for area in AREAS:
            (self.root / area).mkdir(parents=True, exist_ok=True, mode=0o700)

    def copied_to(self, other: "ThreadFiles") -> None:
        """Have another thread begin with copies of these files, unless it has a directory of its own. Links
        stay links, which are never followed."""
        if not self.root.is_dir() or other.root.exists():
            return
        unfinished = other.root.with_name(f".{other.root.name}")
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.copytree(self.root, unfinished, symlinks=True)
        unfinished.rename(other.root)

    @contextmanager
    def open(self, text: str) -> Iterator[BinaryIO]:
        """Open a regular file to read it.

        Raises:
            NoSuchFileError: There is nothing there.
            PathRefusedError: The path is not allowed, or leads to a link, a directory, a device, a
                socket or a pipe.
        """
        path = virtual_path(text)
        if not path.parts:
            raise PathRefusedError(f"{text}: is a directory")
        with ExitStack() as stack:
            # What goes wrong with what the caller does meanwhile is not the file's fault.
            with self._refusals(text):
                file = stack.enter_context(contained.open_file(self._base(path), path.parts))
            yield file

    def read(self, text: str, most_bytes: int) -> bytes:
        """Give what is in a file.

        Raises:
            PathRefusedError: As :meth:`open`; or it holds more than ``most_bytes``.
        """
        with self.open(text) as file, self._refusals(text):
            data = file.read(most_bytes + 1)
        if len(data) > most_bytes:
            raise PathRefusedError(f"{text}: is larger than {most_bytes} bytes")
        return data

    def write(self, text: str, data: bytes) -> None:
        """Make a file or replace one, with the directories it needs: the whole of it or nothing.

        Raises:
            PathRefusedError: The path is not allowed or only read, leads over a link, is a
                directory, or cannot be written.
        """
        path = virtual_path(text)
        if path.base == SKILLS or (path.parts and path.parts[0] not in _WRITABLE):
            raise PathRefusedError(f"{text}: can only be read; write below {WORKSPACE} or {OUTPUTS}")
        if len(path.parts) < 2:
            raise PathRefusedError(f"{text}: is a directory")
        with self._refusals(text):
            # Here and not at the start of each run, most of which write nothing.
            self.ensure()
            contained.replace_file(self.root, path.parts, data)

    def entries(self, text: str) -> list[Entry]:
        """Give what is in a directory, sorted by name.

        Raises:
            PathRefusedError: The path is not allowed, or is no directory.
        """
        path = virtual_path(text)
        if path == VirtualPath(VIRTUAL_ROOT, ()):
            return [Entry(area, EntryKind.DIRECTORY) for area in AREAS]
        with self._refusals(text):
            return contained.entries(self._base(path), path.parts)

    def walk(self, text: str, most: int) -> Iterator[tuple[VirtualPath, Entry]]:
        """Give the regular files below a directory, or the file itself; links are passed over.

        Args:
            text: Where to begin.
            most: Directory entries to look at before giving up with what was found.

        Raises:
            PathRefusedError: The path is not allowed, or there is nothing.
        """
        path = virtual_path(text)
        everything = path == VirtualPath(VIRTUAL_ROOT, ())
        for start in [path.below(area) for area in AREAS] if everything else [path]:
            with self._refusals(text):
                for parts, entry in contained.walk(self._base(start), start.parts, most):
                    yield VirtualPath(start.base, parts), entry

    def _base(self, path: VirtualPath) -> Path:
        if path.base == VIRTUAL_ROOT:
            if not self.root.is_dir():
                self.ensure()
            return self.root
        if self.skills is None:
            raise PathRefusedError(f"{path}: there are no skills here")
        return self.skills

    @staticmethod
    @contextmanager
    def _refusals(text: str) -> Iterator[None]:
        """Turn what the system says into words without the real path."""
        try:
            yield
        except contained.ContainedError as error:
            raise PathRefusedError(f"{text}: {error}") from None
        except FileNotFoundError:
            raise NoSuchFileError(f"{text}: no such file") from None
        except OSError as error:
            # The error's own text names the real path.
            raise PathRefusedError(f"{text}: {os.strerror(error.errno or 0)}") from None
