"""Files below a root that other programs write to at the same time: no link is ever followed.

Every function blocks on the disk and takes the root, which is trusted, and the names below it, which
are not. A name is opened relative to the directory that was opened before it, so that nothing can be
swapped between a check and a use.
"""

import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import BinaryIO

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe would otherwise hold the reader until somebody writes.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

MAX_DEPTH = 40
"""Deeper folders are not walked."""

MAX_NAMES = 20_000
"""Names taken from one directory unless told otherwise; further ones are passed over."""


class ContainedError(Exception):
    """Something is there that is not used, such as a link; words that follow a path."""


class EntryKind(StrEnum):
    """What a name stands for."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a directory.

    Args:
        name: As on the disk; may hold any character, and surrogates where it is no UTF-8.
        kind: What it is.
        size: Bytes of a file, else 0.
        modified: Unix seconds.
    """

    name: str
    kind: EntryKind
    size: int = 0
    modified: float = 0.0


@contextmanager
def open_directory(root: Path, names: Sequence[str], *, create: bool = False) -> Iterator[int]:
    """Open a directory below ``root`` and give its descriptor.

    Args:
        root: Where to begin.
        names: One directory below the other.
        create: Make those that are missing.

    Raises:
        ContainedError: One of them is a link, or no directory.
        OSError: From the system, such as FileNotFoundError.
    """
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            below = _step(here, name, create=create)
            os.close(here)
            here = below
        yield here
    finally:
        os.close(here)


def _step(parent: int, name: str, *, create: bool) -> int:
    try:
        return os.open(name, _DIRECTORY, dir_fd=parent)
    except FileNotFoundError:
        if not create:
            raise
    except NotADirectoryError:
        _refuse_link(parent, name)
        raise
    with suppress(FileExistsError):
        os.mkdir(name, 0o755, dir_fd=parent)
    made = os.open(name, _DIRECTORY, dir_fd=parent)
    _give_to_owner_of(parent, made)
    return made


def _refuse_link(parent: int, name: str) -> None:
    """Raises ContainedError if the name is a link."""
    with suppress(FileNotFoundError):
        if stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise ContainedError("symbolic links are not followed")


def _give_to_owner_of(directory: int, made: int) -> None:
    # A service that runs as root works for sandboxes that do not: what it makes there is theirs.
    if os.geteuid() != 0:
        return
    owner = os.fstat(directory)
    if owner.st_uid != 0:
        os.fchown(made, owner.st_uid, owner.st_gid)


@contextmanager
def open_file(root: Path, names: Sequence[str]) -> Iterator[BinaryIO]:
    """Open a regular file below ``root`` to read it.

    Raises:
        ContainedError: There is a link, a directory, a device, a socket or a pipe.
        OSError: From the system, such as FileNotFoundError.
    """
    with open_directory(root, names[:-1]) as directory:
        handle = _open_regular(directory, names[-1])
    with os.fdopen(handle, "rb") as file:
        yield file


def _open_regular(directory: int, name: str) -> int:
    mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
    _refuse_all_but_files(mode)
    # Asked again below: another program may have put something else there meanwhile.
    try:
        handle = os.open(name, _FILE, dir_fd=directory)
    except OSError:
        _refuse_link(directory, name)
        raise
    try:
        _refuse_all_but_files(os.fstat(handle).st_mode)
    except ContainedError:
        os.close(handle)
        raise
    return handle


def _refuse_all_but_files(mode: int) -> None:
    if stat.S_ISLNK(mode):
        raise ContainedError("symbolic links are not followed")
    if stat.S_ISDIR(mode):
        raise ContainedError("is a directory")
    if not stat.S_ISREG(mode):
        raise ContainedError("is not a regular file")


def give_to(root: Path, names: Sequence[str], uid: int, gid: int) -> None:
    """Make a user the owner of a directory and all below it, as far as that can be reached.

    Raises:
        ContainedError, OSError: As :func:`open_directory`; or this process may not do that.
    """
    waiting = [tuple(names)]
    while waiting:
        folder = waiting.pop()
        with open_directory(root, folder) as directory:
            os.fchown(directory, uid, gid)
            for entry in _scan(directory, MAX_NAMES):
                if entry.kind is EntryKind.DIRECTORY and len(folder) <= MAX_DEPTH:
                    waiting.append((*folder, entry.name))
                else:
                    with suppress(OSError):
                        os.chown(entry.name, uid, gid, dir_fd=directory, follow_symlinks=False)


def replace_file(root: Path, names: Sequence[str], data: bytes) -> None:
    """Write a file below ``root``; a crash leaves the old content or the new, never half.

    The mode of a file that was there stays.

    Raises:
        ContainedError: There is something that is not a regular file.
        OSError: From the system.
    """
    name = names[-1]
    with open_directory(root, names[:-1], create=True) as directory:
        mode = 0o644
        with suppress(FileNotFoundError):
            found = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
            _refuse_all_but_files(found)
            mode = stat.S_IMODE(found) & 0o777
        temporary = f".writing-{secrets.token_hex(8)}"
        handle = os.open(temporary, _NEW_FILE, 0o600, dir_fd=directory)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                _give_to_owner_of(directory, file.fileno())
                os.fchmod(file.fileno(), mode)
                os.fsync(file.fileno())
            # Atomic; replaces a link that came meanwhile instead of following it.
            os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=directory)
            raise


def entries(root: Path, names: Sequence[str], most: int = MAX_NAMES) -> list[Entry]:
    """Give what is in a directory, sorted by name; at most ``most`` of it.

    Raises:
        ContainedError, OSError: As :func:`open_directory`.
    """
    with open_directory(root, names) as directory:
        return _scan(directory, most)


def _scan(directory: int, most: int) -> list[Entry]:
    found = []
    with os.scandir(directory) as scan:
        for one in islice(scan, most):
            try:
                status = one.stat(follow_symlinks=False)
            except OSError:
                # Gone, or never there for us.
                continue
            found.append(_entry(one.name, status))
    return sorted(found, key=lambda entry: entry.name)


def _entry(name: str, status: os.stat_result) -> Entry:
    if stat.S_ISREG(status.st_mode):
        return Entry(name, EntryKind.FILE, status.st_size, status.st_mtime)
    if stat.S_ISDIR(status.st_mode):
        return Entry(name, EntryKind.DIRECTORY, 0, status.st_mtime)
    if stat.S_ISLNK(status.st_mode):
        return Entry(name, EntryKind.LINK, 0, status.st_mtime)
    return Entry(name, EntryKind.OTHER, 0, status.st_mtime)


def walk(root: Path, names: Sequence[str], most: int) -> Iterator[tuple[tuple[str, ...], Entry]]:
    """Give the regular files at or below a path, each with its names from ``root``.

    Directories come in the order of their names, the files of one before those below it. What cannot
    be read, and what is deeper than ``MAX_DEPTH``, is passed over.

    Args:
        root: Where the names begin.
        names: Where the walk begins.
        most: Entries to look at at most.

    Raises:
        ContainedError, OSError: The start is a link or is not there.
    """
    start = tuple(names)
    if start:
        with open_directory(root, start[:-1]) as parent:
            entry = _entry(start[-1], os.stat(start[-1], dir_fd=parent, follow_symlinks=False))
        if entry.kind is EntryKind.LINK:
            raise ContainedError("symbolic links are not followed")
        if entry.kind is not EntryKind.DIRECTORY:
            if entry.kind is EntryKind.FILE:
                yield start, entry
            return
    waiting = [start]
    left = most
    while waiting and left > 0:
        folder = waiting.pop()
        try:
            found = entries(root, folder)
        except (ContainedError, OSError):
            continue
        left -= len(found)
        below = []
        for entry in found:
            if entry.kind is EntryKind.FILE:
                yield (*folder, entry.name), entry
            elif entry.kind is EntryKind.DIRECTORY and len(folder) - len(start) < MAX_DEPTH:
                below.append((*folder, entry.name))
        waiting.extend(reversed(below))
