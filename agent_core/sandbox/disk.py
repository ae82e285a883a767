"""How much a thread's files may take on the disk.

A container's own files are bounded by the engine; those of the thread lie on the host, where nothing
bounds them. So they are measured while a command runs, and the command is killed when they grow too
large. Each single file is bounded by the system besides (RLIMIT_FSIZE).
"""

import os
from dataclasses import dataclass
from pathlib import Path

from agent_core import contained
from agent_core.contained import ContainedError, EntryKind
from agent_core.paths import AREAS

MAX_FILES = 200_000
KEEP_FREE_BYTES = 1 << 30
"""What must stay free on the disk for everything else."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What is there.

    Args:
        size: Bytes.
        files: Entries of all kinds.
        too_deep: Whether folders are nested too deep to look into.
    """

    size: int = 0
    files: int = 0
    too_deep: bool = False


@dataclass(frozen=True, slots=True)
class DiskLimit:
    """What a command may make of the thread's files.

    Args:
        root: The thread's files.
        most_bytes: In all.
        before: What was there before the command.
    """

    root: Path
    most_bytes: int
    before: Usage

    def exceeded(self) -> str:
        """Say what is exceeded, or nothing. Blocks on the disk.

        What was too large before the command may stay, so that commands can delete it.
        """
        if free_bytes(self.root) < KEEP_FREE_BYTES:
            return "the disk is almost full"
        now = usage(self.root)
        if now.too_deep and not self.before.too_deep:
            return f"folders are nested deeper than {contained.MAX_DEPTH}"
        if now.size > max(self.most_bytes, self.before.size):
            return f"the files of this conversation may take {self.most_bytes >> 20} MB in all"
        if now.files > max(MAX_FILES, self.before.files):
            return f"there may be {MAX_FILES} files in all"
        return ""


def free_bytes(root: Path) -> int:
    """What is free on the disk of ``root``. Blocks on the disk."""
    status = os.statvfs(root)
    return status.f_bavail * status.f_frsize


def usage(root: Path) -> Usage:
    """Measure a thread's files. Blocks on the disk."""
    size = files = 0
    too_deep = False
    waiting: list[tuple[str, ...]] = [(area,) for area in AREAS]
    while waiting and files <= MAX_FILES:
        folder = waiting.pop()
        try:
            found = contained.entries(root, folder, MAX_FILES + 1)
        except (ContainedError, OSError):
            continue
        files += len(found)
        size += sum(entry.size for entry in found)
        below = [(*folder, entry.name) for entry in found if entry.kind is EntryKind.DIRECTORY]
        if below and len(folder) > contained.MAX_DEPTH:
            too_deep = True
        else:
            waiting.extend(below)
    return Usage(size, files, too_deep)
