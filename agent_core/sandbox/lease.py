"""When the sandbox of a thread was used last: the time of a file beside the thread's files.

It is not in a folder that the sandbox sees, and all processes that share the home can read it.
"""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

_NAME = ".sandbox-used"


class Lease:
    """The last use of a sandbox. Methods block on the disk.

    Args:
        root: The thread's files.
        now: The clock.
    """

    def __init__(self, root: Path, now: Callable[[], datetime]) -> None:
        self._file = root / _NAME
        self._now = now
        self._renewed: float | None = None

    def renew(self) -> None:
        """Say that it is in use now."""
        self._file.touch()
        self._renewed = self._now().timestamp()
        os.utime(self._file, (self._renewed, self._renewed))

    def last_used(self) -> datetime | None:
        """When any process used it last; None if the thread's files are gone."""
        try:
            return datetime.fromtimestamp(self._file.stat().st_mtime, UTC)
        except OSError:
            return None

    @property
    def is_ours(self) -> bool:
        """Whether nobody has used it since we did."""
        used = self.last_used()
        return self._renewed is not None and used is not None and abs(used.timestamp() - self._renewed) < 1e-3
