"""Where a thread's files are: virtual paths for the model, real ones for the code.

The model sees ``/mnt/user-data/{uploads,workspace,outputs}`` and nothing else. A real path never
appears in a tool result or an error.
"""

import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

VIRTUAL_ROOT = "/mnt/user-data"
AREAS = ("uploads", "workspace", "outputs")
OUTPUTS = f"{VIRTUAL_ROOT}/outputs"
UPLOADS = f"{VIRTUAL_ROOT}/uploads"

# Limits of common file systems, in bytes of UTF-8.
_NAME_MAX = 255
_PATH_MAX = 1024


class PathRefusedError(ValueError):
    """A virtual path that is not allowed or does not lead to a file; words for the model."""


@dataclass(frozen=True, slots=True)
class ThreadFiles:
    """The files of one thread.

    Args:
        root: Real directory that holds ``uploads``, ``workspace`` and ``outputs``.
    """

    root: Path

    def ensure(self) -> None:
        """Make the directories that are missing. Blocks on the disk."""
        for area in AREAS:
            (self.root / area).mkdir(parents=True, exist_ok=True, mode=0o700)

    def real(self, virtual: str) -> Path:
        """Give the real path behind ``virtual``, whether it exists or not. Blocks on the disk.

        No part of it below the root is a symbolic link, so writing there stays inside.

        Raises:
            PathRefusedError: It leads elsewhere, or is not a path a file can have.
        """
        area, *parts = self._parts(virtual)
        path = self.root / area
        for part in (None, *parts):
            path = path if part is None else path / part
            if path.is_symlink():
                raise PathRefusedError(f"{virtual}: symbolic links are not followed")
        return path

    def existing_file(self, virtual: str) -> Path:
        """Give the real path of a regular file that is there. Blocks on the disk.

        Raises:
            PathRefusedError: As :meth:`real`; or there is no such file, or it is a directory,
                a device, a socket or a pipe.
        """
        path = self.real(virtual)
        try:
            mode = path.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            raise PathRefusedError(f"{virtual}: no such file") from None
        except OSError:
            raise PathRefusedError(f"{virtual}: cannot be read") from None
        if stat.S_ISDIR(mode):
            raise PathRefusedError(f"{virtual}: is a directory")
        if not stat.S_ISREG(mode):
            raise PathRefusedError(f"{virtual}: is not a regular file")
        return path

    @staticmethod
    def _parts(virtual: str) -> tuple[str, ...]:
        if any(ord(char) < 0x20 or ord(char) == 0x7F for char in virtual):
            raise PathRefusedError("the path holds control characters")
        try:
            encoded = virtual.encode()
        except UnicodeEncodeError:
            raise PathRefusedError("the path is not valid text") from None
        if len(encoded) > _PATH_MAX:
            raise PathRefusedError("the path is too long")
        shown = virtual or "(empty)"
        prefix = f"{VIRTUAL_ROOT}/"
        if not virtual.startswith(prefix):
            raise PathRefusedError(f"{shown}: only paths below {VIRTUAL_ROOT} can be used")
        raw = virtual[len(prefix) :].split("/")
        if ".." in raw:
            raise PathRefusedError(f"{shown}: '..' is not allowed")
        parts = PurePosixPath(*raw).parts if any(raw) else ()
        parts = tuple(part for part in parts if part != "/")
        if not parts or parts[0] not in AREAS:
            raise PathRefusedError(f"{shown}: choose a place below {', '.join(prefix + a for a in AREAS)}")
        if any(len(part.encode()) > _NAME_MAX for part in parts):
            raise PathRefusedError(f"{shown}: a part of the path is too long")
        return parts
