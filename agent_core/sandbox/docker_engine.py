"""The container engine, as far as sandboxes need it. The only file that knows its client."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import aiohttp

from agent_core.sandbox.docker_spec import HOME_LABEL, ROOT_LABEL, SPEC_LABEL, THREAD_LABEL
from agent_core.sandbox.sandbox import SandboxError, SandboxUnavailableError

if TYPE_CHECKING:
    from aiodocker import Docker, DockerError
    from aiodocker.containers import DockerContainer
    from aiodocker.execs import Exec
    from aiodocker.stream import Stream

_log = logging.getLogger(__name__)

USUAL_SOCKET = "unix:///var/run/docker.sock"
CALL_SECONDS = 60.0
_CONNECT_SECONDS = 5.0
_NAME_TRIES = 100
_NAME_PAUSE = 0.1

DOWN = "the container engine does not answer; the operator has to look after it"
REFUSED = "the container engine refused; the operator's log says why"

_NOT_FOUND = 404
_CONFLICT = 409
# The client's own, for an engine that cannot be reached.
_UNREACHABLE = 900


class ContainerGoneError(SandboxError):
    """A container is not there any more, or has ended."""


@dataclass(frozen=True, slots=True)
class Container:
    """A container of ours.

    Args:
        id: The engine's.
        name: See :func:`~agent_core.sandbox.docker_spec.container_name`.
        thread_id: Whose it is.
        root: The thread's files.
        spec: Fingerprint of what was asked for.
        running: Whether commands can run in it.
    """

    id: str
    name: str
    thread_id: str
    root: str
    spec: str
    running: bool


class Execution:
    """A command in a container.

    Args:
        execution: The client's handle.
        stream: What it writes.
    """

    def __init__(self, execution: "Exec", stream: "Stream") -> None:
        self._exec = execution
        self._stream = stream

    async def read(self) -> bytes:
        """Give what it wrote next; empty at the end.

        Raises:
            SandboxUnavailableError: The engine went away.
        """
        with _translated():
            message = await self._stream.read_out()
        return b"" if message is None else message.data

    async def exit_code(self) -> int | None:
        """Give its exit code; None while it runs.

        Raises:
            ContainerGoneError: Its container went away.
            SandboxUnavailableError: The engine went away.
        """
        with _translated():
            state = await self._exec.inspect()
        return None if state["Running"] else int(state["ExitCode"] or 0)


class DockerEngine:
    """Talks to an engine. Connects at first use, so it must be used in one event loop.

    Args:
        url: Where it listens; None for ``DOCKER_HOST`` or its usual socket.
    """

    def __init__(self, url: str | None) -> None:
        self._url = url or os.environ.get("DOCKER_HOST") or USUAL_SOCKET
        self._client: Docker | None = None

    async def _docker(self) -> "Docker":
        if self._client is None:
            docker = await asyncio.to_thread(_client_class)
            timeout = aiohttp.ClientTimeout(total=CALL_SECONDS, connect=_CONNECT_SECONDS)
            try:
                self._client = self._client or docker(self._url, timeout=timeout)
            except ValueError as error:
                raise SandboxUnavailableError(
                    f"the address of the container engine is wrong: {error}"
                ) from None
        return self._client

    async def version(self) -> str:
        """Give the engine's version.

        Raises:
            SandboxUnavailableError: It does not answer.
        """
        with _translated():
            return str((await (await self._docker()).version())["Version"])

    async def image_id(self, image: str) -> str:
        """Give the content hash of an image.

        Raises:
            SandboxUnavailableError: There is no such image, or the engine does not answer.
        """
        try:
            with _translated():
                return str((await (await self._docker()).images.inspect(image))["Id"])
        except ContainerGoneError:
            raise SandboxUnavailableError(
                f"the image {image} is not there; the operator has to build it (docs/sandbox.md)"
            ) from None

    async def find(self, name: str) -> Container | None:
        """Give the container of a name or id, whatever its state."""
        try:
            with _translated():
                found = await (await self._docker()).containers.get(name)
                return _container(await found.show())
        except ContainerGoneError:
            return None

    async def all_of(self, home_id: str) -> list[Container]:
        """Give all containers of a home."""
        filters = f'{{"label": ["{HOME_LABEL}={home_id}"]}}'
        with _translated():
            listed = await (await self._docker()).containers.list(all=1, filters=filters)
        names = [str(one["Names"][0]).removeprefix("/") for one in listed]
        found = [await self.find(name) for name in names]
        return [one for one in found if one is not None]

    async def start(self, name: str, config: Mapping[str, Any]) -> Container:
        """Make a container and start it; waits until an earlier one of that name is gone.

        Raises:
            SandboxError: It cannot be made or started.
            SandboxUnavailableError: The engine does not answer.
        """
        for _ in range(_NAME_TRIES):
            try:
                with _translated():
                    made = await (await self._docker()).containers.create(dict(config), name=name)
            except ContainerGoneError:
                found = await self.find(name)
                if found is not None and found.running:
                    if found.spec == config["Labels"][SPEC_LABEL]:
                        # Another process was faster.
                        return found
                    await self.remove(found.id)
                await asyncio.sleep(_NAME_PAUSE)
                continue
            try:
                with _translated():
                    await made.start()
                    return _container(await made.show())
            except SandboxError as error:
                # Such as for a network that does not exist.
                _log.warning("a sandbox could not be started: %s", error.__cause__)
                await self.remove(made.id)
                raise SandboxError(REFUSED) from error
        raise SandboxError("the container engine does not make a container; try again later")

    async def remove(self, container: str) -> None:
        """Kill a container and remove it, whether it is there or not; it is gone then."""
        for _ in range(_NAME_TRIES):
            try:
                with _translated():
                    return await (await self._of(container)).delete(force=True)
            except ContainerGoneError:
                if await self.find(container) is None:
                    return None
            # It is going already.
            await asyncio.sleep(_NAME_PAUSE)
        raise SandboxError("the container engine does not remove a container")

    async def process_count(self, container: str) -> int:
        """Say how many processes a container has.

        Raises:
            ContainerGoneError: It is not there any more.
            SandboxError: The engine cannot tell.
        """
        with _translated():
            # Of a container that is just ending there is no list.
            return len((await (await self._of(container)).top())["Processes"] or ())

    @asynccontextmanager
    async def run(
        self, container: str, command: Sequence[str], user: str, environment: Mapping[str, str]
    ) -> AsyncIterator[Execution]:
        """Run a command in a container while the block runs; leaving the block does not end it.

        Raises:
            ContainerGoneError: The container does not run.
            SandboxUnavailableError: The engine does not answer.
        """
        with _translated():
            found = await self._of(container)
            execution = await found.exec(list(command), user=user, environment=dict(environment))
            stream = execution.start()
            await stream.__aenter__()
        try:
            yield Execution(execution, stream)
        finally:
            with _translated():
                await stream.close()

    async def aclose(self) -> None:
        """Close the connection."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _of(self, container: str) -> "DockerContainer":
        return (await self._docker()).containers.container(container)


def _client_class() -> "type[Docker]":
    # Imported here: most of the time nobody runs a command.
    from aiodocker import Docker

    return Docker


def _container(state: Mapping[str, Any]) -> Container:
    labels = state["Config"]["Labels"] or {}
    status = state["State"]
    return Container(
        id=str(state["Id"]),
        name=str(state["Name"]).removeprefix("/"),
        thread_id=labels.get(THREAD_LABEL, ""),
        root=labels.get(ROOT_LABEL, ""),
        spec=labels.get(SPEC_LABEL, ""),
        running=status["Status"] == "running",
    )


@contextmanager
def _translated() -> Iterator[None]:
    """Turn what the client raises into words; the engine's own go to the log."""
    try:
        yield
    except _client_error() as error:
        if error.status in (_NOT_FOUND, _CONFLICT):
            raise ContainerGoneError("the container is gone") from error
        _log.warning("the container engine refused: %s", error)
        if error.status == _UNREACHABLE:
            raise SandboxUnavailableError(DOWN) from error
        raise SandboxError(REFUSED) from error
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        _log.warning("the container engine does not answer: %s", error)
        raise SandboxUnavailableError(DOWN) from error


def _client_error() -> "type[DockerError]":
    # Asked only when something was raised, so that nothing is imported on the event loop before.
    from aiodocker import DockerError

    return DockerError
