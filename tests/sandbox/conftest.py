"""A real container engine and a small image; skipped where there is none, except in CI."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_core.paths import ThreadFiles
from agent_core.sandbox.docker import DockerSandboxProvider, system_clock
from agent_core.sandbox.docker_engine import DockerEngine
from agent_core.sandbox.docker_sandbox import DockerSandbox
from agent_core.sandbox.docker_spec import DockerSettings
from agent_core.sandbox.sandbox import SandboxUnavailableError

IMAGE = os.environ.get("HART_TEST_SANDBOX_IMAGE", "hart-sandbox-test:latest")

SMALL = DockerSettings(image=IMAGE, memory_mb=256, processes=64, tmp_mb=32, disk_mb=50)


@pytest.fixture
async def docker_engine() -> AsyncIterator[DockerEngine]:
    """An engine that has the image."""
    engine = DockerEngine(None)
    try:
        await engine.image_id(IMAGE)
    except SandboxUnavailableError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no container engine for tests: {error}")
    yield engine
    await engine.aclose()


ProviderMaker = Callable[..., DockerSandboxProvider]


@pytest.fixture
async def make_provider(docker_engine: DockerEngine, tmp_path: Path) -> AsyncIterator[ProviderMaker]:
    """Makes providers on one home, or another; all their containers are gone afterwards."""
    (tmp_path / "home").mkdir()
    async with AsyncExitStack() as stack:

        def make(
            home: Path = tmp_path / "home", now: Any = system_clock, **settings: Any
        ) -> DockerSandboxProvider:
            provider = DockerSandboxProvider(replace(SMALL, **settings), home, now)
            stack.push_async_callback(_end, provider)
            return provider

        yield make


async def _end(provider: DockerSandboxProvider) -> None:
    if provider._settings.url is None:
        await provider.reap(everything=True)
    await provider.aclose()


@pytest.fixture
def provider(make_provider: ProviderMaker) -> DockerSandboxProvider:
    """One on the test's home."""
    return make_provider()


@pytest.fixture
def files(tmp_path: Path) -> ThreadFiles:
    """The files of a thread, and two skills."""
    (tmp_path / "skills/public").mkdir(parents=True)
    (tmp_path / "skills/public/SKILL.md").write_text("Write poems.")
    return thread_files(tmp_path, "one")


def thread_files(folder: Path, thread: str) -> ThreadFiles:
    """The files of some thread of the test's home."""
    files = ThreadFiles(folder / "home/threads" / thread, folder / "skills")
    files.ensure()
    return files


@pytest.fixture
async def box(provider: DockerSandboxProvider, files: ThreadFiles) -> DockerSandbox:
    """The sandbox of that thread."""
    return await provider.acquire("one", files)


async def sh(sandbox: DockerSandbox, command: str, timeout: float = 60) -> str:
    """What a command writes; it must have ended by itself."""
    result = await sandbox.run(command, timeout=timeout, output_limit=10_000)
    assert result.exit_code is not None, result
    return result.output
