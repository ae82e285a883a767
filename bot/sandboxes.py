"""From settings to the sandboxes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent_core.sandbox.docker_spec import DockerSettings
from agent_core.sandbox.local import LocalSandboxProvider
from agent_core.sandbox.sandbox import SandboxProvider
from bot.clock import Clock, system_clock
from bot.config import SandboxConfig, SandboxKind
from bot.home import Home

if TYPE_CHECKING:
    from agent_core.sandbox.docker import DockerSandboxProvider


def docker_sandboxes(config: SandboxConfig, home: Home, now: Clock = system_clock) -> "DockerSandboxProvider":
    """The containers of a home, as configured."""
    # Imported here: the engine's client takes a while to load, and most homes do without.
    from agent_core.sandbox.docker import DockerSandboxProvider

    settings = DockerSettings(
        image=config.image,
        url=config.engine,
        network=config.network,
        memory_mb=config.memory_mb,
        cpus=config.cpus,
        processes=config.processes,
        tmp_mb=config.tmp_mb,
        disk_mb=config.disk_mb,
        idle_seconds=config.idle_minutes * 60,
        environment={name: value.get_secret_value() for name, value in config.environment.items()},
        home_on_host=Path(config.home_on_host) if config.home_on_host else None,
    )
    return DockerSandboxProvider(settings, home.root, now)


@asynccontextmanager
async def open_sandboxes(
    config: SandboxConfig, home: Home, now: Clock = system_clock
) -> AsyncIterator[SandboxProvider | None]:
    """Where commands run while the block runs; None when none can."""
    if not config.runs_commands:
        yield None
        return
    provider: SandboxProvider = (
        docker_sandboxes(config, home, now)
        if config.provider is SandboxKind.DOCKER
        else LocalSandboxProvider(allow_host_bash=config.allow_host_bash)
    )
    await provider.start()
    try:
        yield provider
    finally:
        await provider.aclose()
