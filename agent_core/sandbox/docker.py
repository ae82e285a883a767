"""The sandbox with walls: one container per thread."""

import asyncio
import hashlib
import logging
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent_core.paths import ThreadFiles
from agent_core.sandbox.docker_engine import Container, DockerEngine
from agent_core.sandbox.docker_sandbox import DockerSandbox
from agent_core.sandbox.docker_spec import DockerSettings, Place, container_name
from agent_core.sandbox.lease import Lease
from agent_core.sandbox.sandbox import SandboxError

_log = logging.getLogger(__name__)

HOUSEKEEPING_SECONDS = 30.0
CLOSING_SECONDS = 10.0
FORGOTTEN_SECONDS = 86_400.0


def system_clock() -> datetime:
    """The current time, aware, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class SandboxInfo:
    """A container there is.

    Args:
        name: Its name, and the sandbox's id.
        thread_id: Whose it is.
        running: Whether it runs.
        idle_seconds: Since its last command; None if its thread's files are gone.
    """

    name: str
    thread_id: str
    running: bool
    idle_seconds: float | None


class DockerSandboxProvider:
    """Gives each thread a container of its own, made when its first command runs.

    Several processes may work on one home: they find each other's containers by name, and see by the
    time of a file beside the thread's files when one was used last.

    Args:
        settings: What is configured.
        home: The home folder, below which all threads' files lie.
        now: The clock.
    """

    def __init__(
        self, settings: DockerSettings, home: Path, now: Callable[[], datetime] = system_clock
    ) -> None:
        self._settings = settings
        self._home = home
        self._now = now
        self._engine = DockerEngine(settings.url)
        self._sandboxes: dict[str, DockerSandbox] = {}
        self._home_id: str | None = None
        self._housekeeping: asyncio.Task[None] | None = None

    async def acquire(self, thread_id: str, files: ThreadFiles) -> DockerSandbox:
        """See :class:`~agent_core.sandbox.sandbox.SandboxProvider`."""
        home_id = await self._identity()
        name = container_name(home_id, thread_id)
        if name not in self._sandboxes:
            place = Place(
                home_id=home_id,
                thread_id=thread_id,
                root=files.root,
                host_root=self._on_host(files.root) or files.root,
                host_skills=self._on_host(files.skills) if files.skills and files.skills.is_dir() else None,
            )
            lease = Lease(files.root, self._now)
            sandbox = DockerSandbox(name, self._engine, self._settings, place, files, lease)
            self._sandboxes.setdefault(name, sandbox)
        return self._sandboxes[name]

    def get(self, sandbox_id: str) -> DockerSandbox | None:
        """See :class:`~agent_core.sandbox.sandbox.SandboxProvider`."""
        return self._sandboxes.get(sandbox_id)

    async def release(self, sandbox_id: str) -> None:
        """See :class:`~agent_core.sandbox.sandbox.SandboxProvider`."""
        if (sandbox := self._sandboxes.pop(sandbox_id, None)) is not None:
            await sandbox.end()

    async def start(self) -> None:
        """See :class:`~agent_core.sandbox.sandbox.SandboxProvider`."""
        if self._housekeeping is None:
            self._housekeeping = asyncio.create_task(self._keep_house())

    async def aclose(self) -> None:
        """See :class:`~agent_core.sandbox.sandbox.SandboxProvider`."""
        if self._housekeeping is not None:
            self._housekeeping.cancel()
            with suppress(asyncio.CancelledError):
                await self._housekeeping
        names = [name for name, sandbox in self._sandboxes.items() if sandbox.is_ours]
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_SECONDS):
                # What could not be ended now goes away when it has been idle.
                await asyncio.gather(*map(self.release, names), return_exceptions=True)
        self._sandboxes.clear()
        await self._engine.aclose()

    async def sandboxes(self) -> list[SandboxInfo]:
        """Give the containers of this home, whichever process made them.

        Raises:
            SandboxUnavailableError: The engine does not answer.
        """
        found = await self._engine.all_of(await self._identity())
        return [
            SandboxInfo(one.name, one.thread_id, one.running, await asyncio.to_thread(self._idle, one))
            for one in found
        ]

    async def reap(self, *, everything: bool = False) -> list[str]:
        """Remove the containers of this home that nobody uses, or all of them; give their names.

        Raises:
            SandboxUnavailableError: The engine does not answer.
        """
        removed = []
        for container in await self._engine.all_of(await self._identity()):
            sandbox = self._sandboxes.get(container.name)
            if sandbox is not None and sandbox.busy:
                sandbox.lease.renew()
            idle = await asyncio.to_thread(self._idle, container)
            if everything or not container.running or idle is None or idle >= self._settings.idle_seconds:
                await self._engine.remove(container.id)
                removed.append(container.name)
        for name in await asyncio.to_thread(self._unused):
            if not self._sandboxes[name].busy:
                del self._sandboxes[name]
        return removed

    async def check(self) -> str:
        """Say which engine and image there are.

        Raises:
            SandboxUnavailableError: One is missing.
        """
        version = await self._engine.version()
        image = await self._engine.image_id(self._settings.image)
        return f"engine {version}, image {self._settings.image} ({image.removeprefix('sha256:')[:12]})"

    def _idle(self, container: Container) -> float | None:
        used = Lease(Path(container.root), self._now).last_used() if container.root else None
        return None if used is None else max(0.0, (self._now() - used).total_seconds())

    def _on_host(self, path: Path) -> Path | None:
        """A path as the engine knows it; None if it cannot."""
        if self._settings.home_on_host is None:
            return path
        if path.is_relative_to(self._home):
            return self._settings.home_on_host / path.relative_to(self._home)
        return None

    async def _identity(self) -> str:
        if self._home_id is None:
            self._home_id = await asyncio.to_thread(home_identity, self._home)
        return self._home_id

    async def _keep_house(self) -> None:
        while True:
            try:
                if removed := await self.reap():
                    _log.info("removed %d idle sandboxes", len(removed))
            except SandboxError as error:
                _log.warning("sandboxes: %s", error)
            except Exception:  # noqa: BLE001 - the border of a task; the next round may go better
                _log.exception("sandboxes could not be tidied up")
            await asyncio.sleep(HOUSEKEEPING_SECONDS)

    def _unused(self) -> list[str]:
        """The sandboxes of threads that have run no command for a day. Blocks on the disk."""
        found = []
        for name, sandbox in list(self._sandboxes.items()):
            used = sandbox.lease.last_used()
            old = used is None or (self._now() - used).total_seconds() >= FORGOTTEN_SECONDS
            if old and sandbox.was_used:
                found.append(name)
        return found


def home_identity(home: Path) -> str:
    """A random word that stays with a home folder. Blocks on the disk.

    The path would not do: two containers may know two homes by one path.
    """
    place = home / "sandbox-home-id"
    if place.exists():
        return _hashed(place)
    with suppress(FileExistsError):
        draft = place.with_name(f"{place.name}.{secrets.token_hex(4)}")
        draft.write_text(secrets.token_hex(16))
        try:
            # Fails when there is one, unlike a rename; nobody ever sees half of it.
            os.link(draft, place)
        finally:
            draft.unlink()
    return _hashed(place)


def _hashed(place: Path) -> str:
    return hashlib.sha256(place.read_bytes()).hexdigest()[:32]
