"""Runs one command in a container to its end, or as far as it may go."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from agent_core.sandbox.disk import DiskLimit
from agent_core.sandbox.docker_engine import ContainerGoneError, DockerEngine, Execution
from agent_core.sandbox.output import OutputBuffer
from agent_core.sandbox.processes import COMMAND_VARIABLE
from agent_core.sandbox.sandbox import SandboxError

MAX_OUTPUT_BYTES = 100_000_000
"""A command that writes more is killed."""

KILL_SECONDS = 15.0
"""How long killing processes from within may take before the container is removed."""

# One stream for both, so that their lines stay in order.
_COMMAND = ("bash", "-c", 'exec bash -c "$1" 2>&1', "hart")
_KILL_ALL = ("bash", "-c", "for _ in 1 2 3; do kill -9 -1; done; echo done")
# With nothing that would start a process, since there may be no room for one. On a busy machine what was
# killed may take a while to be gone.
_KILL_ONE = (
    "bash",
    "-c",
    """
    while ((SECONDS < 10)); do
      found=
      for place in /proc/[0-9]*; do
        while IFS= read -r -d '' one; do
          if [[ $one == "HART_COMMAND=$1" ]]; then kill -9 "${place#/proc/}" && found=1; fi
        done 2>/dev/null < "$place/environ"
      done
      [[ $found ]] || { echo done; exit; }
    done
    """,
    "hart",
)

_LONGEST_PAUSE = 0.5
_MEASURING_SHARE = 10
_SHORTEST_PAUSE = 0.02
_LAST_WORDS_SECONDS = 0.5


class Ending(StrEnum):
    """How a command came to its end."""

    ENDED = "ended"
    TIMED_OUT = "timed out"
    TOO_MUCH_OUTPUT = "too much output"
    DISK = "disk"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it.

    Args:
        ending: How it ended.
        exit_code: If it ended by itself.
        reason: Further words, for ``DISK``.
    """

    ending: Ending
    exit_code: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Shell:
    """Runs commands in one container.

    Args:
        engine: The engine.
        container: The container's id.
        user: ``uid:gid``.
    """

    engine: DockerEngine
    container: str
    user: str

    async def run(
        self, command: str, command_id: str, timeout: float, kept: OutputBuffer, disk: DiskLimit
    ) -> Outcome:
        """Run a command. Unless it ended by itself, its processes still run afterwards.

        Raises:
            ContainerGoneError: The container did not run to begin with.
            SandboxError: The engine failed.
        """
        environment = {COMMAND_VARIABLE: command_id}
        async with self.engine.run(self.container, (*_COMMAND, command), self.user, environment) as execution:
            reading = asyncio.create_task(_read(execution, kept))
            try:
                async with asyncio.timeout(timeout):
                    return await _watch(execution, reading, kept, disk)
            except TimeoutError:
                return Outcome(Ending.TIMED_OUT)
            except ContainerGoneError:
                return Outcome(Ending.GONE)
            finally:
                reading.cancel()
                with suppress(asyncio.CancelledError, SandboxError):
                    await reading

    async def kill_all(self) -> bool:
        """Kill every process but the first; say whether that could be done."""
        return await self._kill(_KILL_ALL)

    async def kill_one(self, command_id: str) -> bool:
        """Kill the processes of one command; say whether that could be done."""
        return await self._kill((*_KILL_ONE, command_id))

    async def _kill(self, command: tuple[str, ...]) -> bool:
        try:
            async with (
                asyncio.timeout(KILL_SECONDS),
                self.engine.run(self.container, command, self.user, {}) as execution,
            ):
                said = b""
                while data := await execution.read():
                    said += data
                return said.strip() == b"done"
        except (SandboxError, TimeoutError):
            return False


async def _watch(
    execution: Execution, reading: asyncio.Task[None], kept: OutputBuffer, disk: DiskLimit
) -> Outcome:
    """Wait until a command has ended, or does what it must not."""
    loop = asyncio.get_running_loop()
    pause = _SHORTEST_PAUSE
    measure_at = loop.time()
    while True:
        await asyncio.wait({reading}, timeout=_LONGEST_PAUSE)
        if kept.size > MAX_OUTPUT_BYTES:
            return Outcome(Ending.TOO_MUCH_OUTPUT)
        code = await execution.exit_code()
        if code is not None:
            # Something it left behind may keep the stream open for ever.
            await asyncio.wait({reading}, timeout=_LAST_WORDS_SECONDS)
            return Outcome(Ending.ENDED, code)
        if (begun := loop.time()) >= measure_at:
            if reason := await asyncio.to_thread(disk.exceeded):
                return Outcome(Ending.DISK, reason=reason)
            # Many files take long to measure; that must not become all that is done.
            measure_at = loop.time() + _MEASURING_SHARE * (loop.time() - begun)
        if reading.done():
            # It has closed its output and goes on, or is just about to end.
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


async def _read(execution: Execution, kept: OutputBuffer) -> None:
    while kept.size <= MAX_OUTPUT_BYTES and (data := await execution.read()):
        kept.add(data)
