"""The folder that holds everything Hart keeps on disk."""

import logging
import mimetypes
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout

from agent_core.paths import ThreadFiles
from bot.drafts import FileDraft
from bot.errors import OperatorError
from channels.file_names import safe_name

log = logging.getLogger(__name__)


class HomeBusyError(OperatorError):
    """Another process works on the home."""


class Home:
    """``HART_HOME``: databases, thread files, staged uploads and files on their way out.

    Args:
        root: The folder; made when missing, readable by its owner only.
        skills: Where the skills are, which threads may read; None for none.
    """

    def __init__(self, root: Path, skills: Path | None = None) -> None:
        self.root = root.resolve()
        self._skills = skills
        self.ledger = self.root / "ledger.db"
        self.checkpoints = self.root / "checkpoints.db"
        self.staging = self.root / "staging"
        self.outbox = self.root / "outbox"
        self.server_file = self.root / "server.json"
        self.log_file = self.root / "hart.log"
        self.downloads = self.root / "downloads"
        self._lock = FileLock(self.root / "lock")

    def prepare(self) -> None:
        """Make the folders and see that they can be written.

        Raises:
            OperatorError: They cannot.
        """
        try:
            for folder in (self.root, self.staging, self.root / "threads", self.root / "outbox"):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            probe = self.root / f".probe-{os.getpid()}"
            probe.write_bytes(b"x" * 4096)
            probe.unlink()
        except OSError as error:
            raise OperatorError(
                f"HART_HOME {self.root} cannot be written: {error.strerror or error}. "
                "Free some space, fix its permissions, or set HART_HOME to another folder."
            ) from error

    def lock(self) -> None:
        """Make this process the only one that works on this home.

        Raises:
            HomeBusyError: Another one does.
        """
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            raise HomeBusyError(
                f"Another Hart is working in {self.root}. Stop it first, or set HART_HOME to another folder."
            ) from None

    def unlock(self) -> None:
        """Let others work on this home."""
        self._lock.release()

    def thread_files(self, thread_id: str) -> ThreadFiles:
        """Where the files of a thread lie."""
        return ThreadFiles(self.root / "threads" / thread_id, self._skills)

    def threads_with_files(self) -> list[str]:
        """Ids of the threads that have a folder. Blocks."""
        return [folder.name for folder in (self.root / "threads").iterdir() if folder.is_dir()]

    def forget(self, run_ids: Sequence[str], thread_id: str | None = None) -> None:
        """Delete the copies of files that runs sent, and all files of a thread. Blocks; safe to repeat."""
        folders = [self.outbox / run_id for run_id in run_ids]
        if thread_id is not None:
            folders.append(self.root / "threads" / thread_id)
        for folder in folders:
            shutil.rmtree(folder, onerror=_told)

    def keep_for_sending(self, run_id: str, number: int, source: BinaryIO, name: str) -> FileDraft:
        """Copy a file so that it stays as it is now until it was sent. Blocks; safe to repeat."""
        target = self._outgoing(run_id, f"{number:02d}-{safe_name(name)}")
        unfinished = target.with_name(target.name + ".part")
        with unfinished.open("wb") as copy:
            shutil.copyfileobj(source, copy)
        unfinished.replace(target)
        mime = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return FileDraft(str(target.relative_to(self.root)), name, mime, target.stat().st_size)

    def keep_text_for_sending(self, run_id: str, name: str, text: str) -> FileDraft:
        """Write text down as a file to send; a run has one of a name. Blocks; safe to repeat."""
        target = self._outgoing(run_id, safe_name(name))
        unfinished = target.with_name(target.name + ".part")
        unfinished.write_bytes(text.encode("utf-8", "replace"))
        unfinished.replace(target)
        mime = mimetypes.guess_type(name)[0] or "text/plain"
        return FileDraft(str(target.relative_to(self.root)), name, mime, target.stat().st_size)

    def _outgoing(self, run_id: str, name: str) -> Path:
        target = self.root / "outbox" / run_id / name
        target.parent.mkdir(mode=0o700, exist_ok=True)
        return target

    def outgoing(self, relative: str) -> Path:
        """The file of a delivery."""
        return self.root / relative


def _told(_function: object, path: str, raised: tuple[object, BaseException, object]) -> None:
    error = raised[1]
    if not isinstance(error, FileNotFoundError):
        log.warning("%s could not be deleted: %s", path, error)
