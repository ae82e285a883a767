"""What a sandbox is, for those who use one and those who provide one."""

from dataclasses import dataclass
from typing import Protocol

from agent_core.paths import ThreadFiles


class SandboxError(Exception):
    """A command could not be run; words for the model and for people, without real paths."""


class SandboxUnavailableError(SandboxError):
    """There is no sandbox to be had until the operator has mended something."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What came of a command.

    Args:
        output: What it wrote, standard output and error together, as it came.
        exit_code: Of the shell; None when the command was killed.
        timed_out: Whether it was killed for taking too long.
        truncated: Whether a part of the output was left out.
        notice: What else happened that whoever gave the command must know; empty for nothing.
    """

    output: str
    exit_code: int | None
    timed_out: bool = False
    truncated: bool = False
    notice: str = ""


class Sandbox(Protocol):
    """A place where commands of one thread run; several may run at the same time."""

    @property
    def id(self) -> str:
        """Stays the same for a thread, even when what is behind it is replaced."""
        ...

    async def run(self, command: str, *, timeout: float, output_limit: int) -> CommandResult:
        """Run a command in bash, in the thread's workspace.

        No process outlives its command for long: what is left is killed once no command runs. Being
        cancelled kills the command, too.

        Args:
            command: For ``bash -c``.
            timeout: Seconds until it is killed.
            output_limit: Characters of output to keep, from its begin and its end.

        Raises:
            SandboxError: It could not be run.
        """
        ...


class SandboxProvider(Protocol):
    """Gives out sandboxes; one per process."""

    async def acquire(self, thread_id: str, files: ThreadFiles) -> Sandbox:
        """Give the sandbox of a thread. What is behind it is made when the first command runs."""
        ...

    def get(self, sandbox_id: str) -> Sandbox | None:
        """Give a sandbox that was acquired here and not released since."""
        ...

    async def release(self, sandbox_id: str) -> None:
        """Give up a sandbox and all its processes; the thread's files stay."""
        ...

    async def start(self) -> None:
        """Begin to keep house: remove what earlier processes left, and what is idle. Never raises."""
        ...

    async def aclose(self) -> None:
        """Kill what runs, and give up what was acquired."""
        ...
