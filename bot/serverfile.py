"""How commands find the running server of a home."""

import json
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ServerFile:
    """How commands on this machine find and enter the running server of a home.

    Args:
        url: Where it listens.
        token: Lets them in; random per process, in a file only the owner can read.
        pid: The server's process.
    """

    url: str
    token: str
    pid: int

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        unfinished = path.with_suffix(f".{os.getpid()}")
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump({"url": self.url, "token": self.token, "pid": self.pid}, file)
        unfinished.replace(path)

    def remove(self, path: Path) -> None:
        """Remove the file, unless another server has written its own there meanwhile."""
        if ServerFile.read(path) == self:
            path.unlink(missing_ok=True)

    @classmethod
    def read(cls, path: Path) -> "ServerFile | None":
        """What a running server wrote; None when there is nothing readable."""
        try:
            found = json.loads(path.read_text())
            return cls(str(found["url"]), str(found["token"]), int(found["pid"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
