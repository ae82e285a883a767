"""Which version of a file a tool result speaks of."""

import hashlib
from typing import TypedDict

from agent_core.paths import virtual_path


class FileVersion(TypedDict):
    """Kept with a tool result; plain types, since it goes through the checkpoint.

    Args:
        path: Virtual path, as it is and not as it was spelt, so that one file counts once.
        sha256: Of the content, hexadecimal.
    """

    path: str
    sha256: str


def version_of(path: str, data: bytes) -> FileVersion:
    """The version of a file with this content. Pure."""
    return FileVersion(path=str(virtual_path(path)), sha256=hashlib.sha256(data).hexdigest())
