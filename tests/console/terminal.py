"""A real terminal for a real process: a pty, and what was written to it."""

import asyncio
import fcntl
import os
import pty
import re
import struct
import sys
import termios
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = """
import asyncio, sys
from pathlib import Path
from channels.console import LocalClient, run_repl

async def main():
    async with LocalClient(sys.argv[1]) as client:
        return await run_repl(client, "main", Path(sys.argv[2]))

sys.exit(asyncio.run(main()))
"""
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>78]|\r")


def command(url: str, home: Path) -> list[str]:
    """The console as a process of its own."""
    return [sys.executable, "-c", PROGRAM, url, str(home)]


class Terminal:
    """A console on a pty. Output is kept; :meth:`until` looks at what came since the last call."""

    def __init__(self) -> None:
        self.raw = ""
        self._seen = 0
        self._news = asyncio.Event()

    async def start(self, url: str, home: Path, columns: int = 90, rows: int = 30) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        # Nobody here answers a terminal's questions about its cursor.
        environ = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
        self.process = await asyncio.create_subprocess_exec(
            *command(url, home), stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT, env=environ,
            start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        asyncio.get_running_loop().add_reader(self._ours, self._read)

    def _read(self) -> None:
        try:
            self.raw += os.read(self._ours, 65536).decode("utf-8", "replace")
        except OSError:
            # The other side of the pty was closed.
            asyncio.get_running_loop().remove_reader(self._ours)
        self._news.set()

    @property
    def shown(self) -> str:
        """All that was written, without what moves the cursor or sets colours."""
        return _CONTROL.sub("", self.raw)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._ours, keys.encode())

    async def until(self, text: str, seconds: float = 20.0) -> None:
        """Wait until a text was written since the last wait."""
        try:
            async with asyncio.timeout(seconds):
                while (found := self.shown.find(text, self._seen)) < 0:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"{text!r} is not in {self.shown[self._seen :]!r}") from None
        self._seen = found + len(text)

    async def ended(self) -> int:
        """Wait for the process to end; its exit code."""
        try:
            async with asyncio.timeout(60):
                return await self.process.wait()
        except TimeoutError:
            raise AssertionError(f"still running after {self.shown[self._seen :]!r}") from None

    async def close(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()
        asyncio.get_running_loop().remove_reader(self._ours)
        os.close(self._ours)
