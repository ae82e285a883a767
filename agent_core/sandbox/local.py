"""The sandbox without walls: commands run on this machine, if the operator allows that at all."""

import asyncio
import hashlib
import os
import re
import uuid
from asyncio.subprocess import DEVNULL, STDOUT, Process
from contextlib import suppress

from agent_core.paths import AREAS, SKILLS, VIRTUAL_ROOT, ThreadFiles
from agent_core.sandbox.output import OutputBuffer
from agent_core.sandbox.processes import COMMAND_VARIABLE, kill_command
from agent_core.sandbox.sandbox import CommandResult, SandboxError, SandboxUnavailableError

MAX_OUTPUT_BYTES = 20_000_000
"""A command that writes more is killed."""

_LAST_WORDS_SECONDS = 0.5
_CHUNK = 65_536
_VIRTUAL = re.compile(rf"{VIRTUAL_ROOT}(?=/(?:{'|'.join(AREAS)})\b)")
_VIRTUAL_SKILLS = re.compile(rf"{SKILLS}(?![\w-])")
_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ")


class LocalSandboxProvider:
    """Gives sandboxes on this machine.

    Args:
        allow_host_bash: Whether commands may run. They then can do whatever this process's user can.
    """

    def __init__(self, *, allow_host_bash: bool = False) -> None:
        self._allowed = allow_host_bash
        self._sandboxes: dict[str, LocalSandbox] = {}

    async def acquire(self, thread_id: str, files: ThreadFiles) -> "LocalSandbox":
        """See :class:`~agent_core.sandbox.sandbox.SandboxProvider`."""
        if not self._allowed:
            raise SandboxUnavailableError("commands cannot be run here: sandbox.allow_host_bash is not set")
        name = f"local-{hashlib.sha256(thread_id.encode()).hexdigest()[:16]}"
        return self._sandboxes.setdefault(name, LocalSandbox(name, files))

    def get(self, sandbox_id: str) -> "LocalSandbox | None":
        """See :class:`~agent_core.sandbox.sandbox.SandboxProvider`."""
        return self._sandboxes.get(sandbox_id)

    async def release(self, sandbox_id: str) -> None:
        """See :class:`~agent_core.sandbox.sandbox.SandboxProvider`."""
        if (sandbox := self._sandboxes.pop(sandbox_id, None)) is not None:
            await sandbox.end()

    async def start(self) -> None:
        """Nothing is left by earlier processes that could be found."""

    async def aclose(self) -> None:
        """See :class:`~agent_core.sandbox.sandbox.SandboxProvider`."""
        for name in list(self._sandboxes):
            await self.release(name)


class LocalSandbox:
    """Runs commands on this machine, in the thread's workspace.

    Virtual paths in a command become real ones, and real ones in its output become virtual.

    Args:
        name: Its id.
        files: The thread's files.
    """

    def __init__(self, name: str, files: ThreadFiles) -> None:
        self.id = name
        self._files = files
        self._running: dict[str, Process] = {}

    async def run(self, command: str, *, timeout: float, output_limit: int) -> CommandResult:
        """See :class:`~agent_core.sandbox.sandbox.Sandbox`."""
        command_id = uuid.uuid4().hex
        await asyncio.to_thread(self._files.ensure)
        reader, writer = os.pipe()
        stream = await _stream_of(reader)
        try:
            process = await asyncio.create_subprocess_exec(
                "bash",
                "-c",
                self._with_real_paths(command),
                stdin=DEVNULL,
                stdout=writer,
                stderr=STDOUT,
                cwd=self._files.root / "workspace",
                env=self._environment(command_id),
                start_new_session=True,
            )
        except OSError as error:
            stream.close()
            raise SandboxError(f"bash cannot be started ({os.strerror(error.errno or 0)})") from None
        finally:
            os.close(writer)
        self._running[command_id] = process
        try:
            return await self._finish(process, command_id, stream, timeout, output_limit)
        finally:
            del self._running[command_id]
            stream.close()

    async def end(self) -> None:
        """Kill all commands that run."""
        running = list(self._running.items())
        for command_id, process in running:
            await asyncio.to_thread(kill_command, process.pid, command_id)
            await process.wait()

    async def _finish(
        self, process: Process, command_id: str, stream: "_Stream", timeout: float, output_limit: int
    ) -> CommandResult:
        kept = OutputBuffer(output_limit)
        reading = asyncio.create_task(_read(stream.reader, kept))
        ended = asyncio.create_task(process.wait())
        timed_out = False
        try:
            async with asyncio.timeout(timeout):
                # Reading ends first when there is too much of it.
                await asyncio.wait({reading, ended}, return_when=asyncio.FIRST_COMPLETED)
                if kept.size <= MAX_OUTPUT_BYTES:
                    await ended
        except TimeoutError:
            timed_out = True
        finally:
            # Whatever happened, being cancelled included: nothing of the command goes on.
            await asyncio.shield(_end(process, command_id))
            with suppress(TimeoutError):
                async with asyncio.timeout(_LAST_WORDS_SECONDS):
                    await asyncio.wait({reading})
            reading.cancel()
            ended.cancel()
        text, truncated = kept.text()
        too_much = kept.size > MAX_OUTPUT_BYTES
        return CommandResult(
            output=self._with_virtual_paths(text),
            exit_code=None if timed_out or too_much else process.returncode,
            timed_out=timed_out,
            truncated=truncated,
            notice="The command was killed, since it wrote too much output." if too_much else "",
        )

    def _environment(self, command_id: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        home = str(self._files.root / "workspace")
        return {"LANG": "C.UTF-8", **kept, "HOME": home, COMMAND_VARIABLE: command_id}

    def _with_real_paths(self, command: str) -> str:
        command = _VIRTUAL.sub(lambda _: str(self._files.root), command)
        skills = self._files.skills
        return command if skills is None else _VIRTUAL_SKILLS.sub(lambda _: str(skills), command)

    def _with_virtual_paths(self, output: str) -> str:
        places = [(self._files.root, VIRTUAL_ROOT)]
        if self._files.skills is not None:
            places.append((self._files.skills, SKILLS))
        for real, virtual in places:
            for spelt in {str(real), os.path.realpath(real)}:
                output = output.replace(spelt, virtual)
        return output


class _Stream:
    def __init__(self, reader: asyncio.StreamReader, transport: asyncio.ReadTransport) -> None:
        self.reader = reader
        self._transport = transport

    def close(self) -> None:
        self._transport.close()


async def _stream_of(handle: int) -> _Stream:
    reader = asyncio.StreamReader()
    file = os.fdopen(handle, "rb", buffering=0)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), file
    )
    return _Stream(reader, transport)


async def _read(reader: asyncio.StreamReader, kept: OutputBuffer) -> None:
    while kept.size <= MAX_OUTPUT_BYTES and (data := await reader.read(_CHUNK)):
        kept.add(data)


async def _end(process: Process, command_id: str) -> None:
    await asyncio.to_thread(kill_command, process.pid, command_id)
    await process.wait()
