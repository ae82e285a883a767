"""One sandbox: the container of a thread, replaced whenever it is gone."""

import asyncio
import logging
import os
import uuid

from agent_core import contained
from agent_core.paths import AREAS, ThreadFiles
from agent_core.sandbox.disk import DiskLimit, usage
from agent_core.sandbox.docker_command import Ending, Outcome, Shell
from agent_core.sandbox.docker_engine import ContainerGoneError, DockerEngine
from agent_core.sandbox.docker_spec import (
    QUIET_PROCESSES,
    SPEC_LABEL,
    DockerSettings,
    Place,
    container_config,
)
from agent_core.sandbox.lease import Lease
from agent_core.sandbox.output import OutputBuffer
from agent_core.sandbox.sandbox import CommandResult, SandboxError

_log = logging.getLogger(__name__)

SANDBOX_UID = 10_001
"""Who commands run as when this process runs as root; else they run as whoever runs this process."""

ANEW = (
    "The sandbox had ended and was made anew: files below /mnt/user-data are as they were, everything "
    "else is gone."
)
GONE = (
    "The sandbox was ended from outside while this ran, or ran out of memory. The next command gets a new "
    "one; files below /mnt/user-data stay."
)
_OUT_OF_BOUNDS = {
    Ending.TOO_MUCH_OUTPUT: "The command was killed, since it wrote too much output; write it to a file.",
    Ending.GONE: GONE,
}
# Of a process that was killed.
_KILLED = 137
_DYING_TRIES = 5
_DYING_PAUSE = 0.1
_QUIET_TRIES = 50


class DockerSandbox:
    """The container of one thread, replaced whenever it is gone.

    Args:
        name: Its id, and the container's name.
        engine: The engine.
        settings: What is configured.
        place: Whose it is.
        files: The thread's files.
        lease: When it was used last.
    """

    def __init__(
        self,
        name: str,
        engine: DockerEngine,
        settings: DockerSettings,
        place: Place,
        files: ThreadFiles,
        lease: Lease,
    ) -> None:
        self.id = name
        self.lease = lease
        self._engine = engine
        self._settings = settings
        self._place = place
        self._files = files
        self._user, self._group = _user()
        # Held while a container is made, and while processes of no command are killed.
        self._lock = asyncio.Lock()
        self._container: str | None = None
        self._running = 0
        self._cleaning: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> bool:
        """Whether a command runs."""
        return self._running > 0

    @property
    def was_used(self) -> bool:
        """Whether a command has run in it."""
        return self._container is not None

    @property
    def is_ours(self) -> bool:
        """Whether this process used it last."""
        return self.was_used and self.lease.is_ours

    async def run(self, command: str, *, timeout: float, output_limit: int) -> CommandResult:
        """See :class:`~agent_core.sandbox.sandbox.Sandbox`."""
        command_id = uuid.uuid4().hex
        kept = OutputBuffer(output_limit)
        try:
            outcome, notice = await self._run_once(command, command_id, timeout, kept)
        except ContainerGoneError:
            # It went away before the command began, such as for having been idle.
            outcome, notice = await self._run_once(command, command_id, timeout, kept)
        return _result(outcome, kept, notice)

    async def end(self) -> None:
        """Remove the container with all its processes."""
        if self._cleaning:
            await asyncio.wait(self._cleaning)
        async with self._lock:
            if self._container is not None:
                await self._engine.remove(self._container)

    async def _run_once(
        self, command: str, command_id: str, timeout: float, kept: OutputBuffer
    ) -> tuple[Outcome, str]:
        async with self._lock:
            shell, notice = await self._ready()
            self._running += 1
        outcome: Outcome | None = None
        try:
            before = await asyncio.to_thread(usage, self._files.root)
            disk = DiskLimit(self._files.root, self._settings.disk_mb << 20, before)
            outcome = await shell.run(command, command_id, timeout, kept, disk)
            if outcome.exit_code == _KILLED and not await self._still_runs(shell):
                outcome = Outcome(Ending.GONE)
            return outcome, notice
        finally:
            self._running -= 1
            # Being cancelled ends the command, too; being cancelled again does not keep it alive.
            ended = outcome is not None and outcome.ending in (Ending.ENDED, Ending.GONE)
            cleaning = asyncio.create_task(self._clean_up(shell, command_id, ended=ended))
            self._cleaning.add(cleaning)
            cleaning.add_done_callback(self._cleaning.discard)
            await asyncio.shield(cleaning)

    async def _ready(self) -> tuple[Shell, str]:
        """Find the container or make it; give a way to run commands in it, and what to tell."""
        image_id = await self._engine.image_id(self._settings.image)
        user = f"{self._user}:{self._group}"
        config = container_config(self._settings, self._place, image_id, user)
        before = self._container
        # First, so that nobody takes it for idle while it is being made.
        await asyncio.to_thread(self._renew)
        container = await self._engine.find(self.id)
        adopted = container is not None and container.id != before
        if container is None or not container.running or container.spec != config["Labels"][SPEC_LABEL]:
            if container is not None:
                await self._engine.remove(container.id)
            await asyncio.to_thread(self._give_folders)
            container = await self._engine.start(self.id, config)
            adopted = False
        self._container = container.id
        shell = Shell(self._engine, container.id, user)
        if adopted:
            # A process that died may have left a command running.
            await shell.kill_all()
        return shell, ANEW if before not in (None, container.id) else ""

    def _renew(self) -> None:
        self._files.ensure()
        self.lease.renew()

    def _give_folders(self) -> None:
        if os.geteuid() == 0:
            for area in AREAS:
                contained.give_to(self._files.root, (area,), self._user, self._group)

    async def _still_runs(self, shell: Shell) -> bool:
        """Whether the container outlived a command that was killed."""
        for _ in range(_DYING_TRIES):
            container = await self._engine.find(shell.container)
            if container is None or not container.running:
                return False
            # When a container is killed, its processes die some moments before the engine says so.
            await asyncio.sleep(_DYING_PAUSE)
        return True

    async def _clean_up(self, shell: Shell, command_id: str, *, ended: bool) -> None:
        """Kill what a command left behind; without success, the whole container."""
        try:
            async with self._lock:
                await asyncio.to_thread(self._renew)
                if self._running:
                    # Others run beside it. What hid from its command is killed after the last of them.
                    done = ended or await shell.kill_one(command_id)
                else:
                    done = await self._quieten(shell, sure=ended)
                if not done:
                    _log.warning("sandbox %s: processes could not be killed; it is removed", self.id)
                    await self._engine.remove(shell.container)
        except SandboxError as error:
            _log.warning("sandbox %s: %s", self.id, error)

    async def _quieten(self, shell: Shell, *, sure: bool) -> bool:
        """Leave no process but the first; say whether there is none."""
        try:
            if sure and await self._engine.process_count(shell.container) <= QUIET_PROCESSES:
                return True
            await shell.kill_all()
            for _ in range(_QUIET_TRIES):
                if await self._engine.process_count(shell.container) <= QUIET_PROCESSES:
                    return True
                await asyncio.sleep(_DYING_PAUSE)
            return False
        except ContainerGoneError:
            return True


def _user() -> tuple[int, int]:
    if os.geteuid() == 0:
        return SANDBOX_UID, SANDBOX_UID
    return os.geteuid(), os.getegid()


def _result(outcome: Outcome, kept: OutputBuffer, notice: str) -> CommandResult:
    text, truncated = kept.text()
    happened = _OUT_OF_BOUNDS.get(outcome.ending, "")
    if outcome.ending is Ending.DISK:
        happened = f"The command was killed, since {outcome.reason}. Delete what is not needed."
    return CommandResult(
        output=text,
        exit_code=outcome.exit_code,
        timed_out=outcome.ending is Ending.TIMED_OUT,
        truncated=truncated,
        notice=" ".join(filter(None, (notice, happened))),
    )
