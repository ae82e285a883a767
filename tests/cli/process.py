"""The ``hart`` command in a process of its own."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.config import load
from tests.hart import Site

HART = Path(sys.executable).parent / "hart"
PATIENCE = 150.0
"""Seconds to wait for a process; generous, as machines that run tests are busy."""

_OURS = ("HART_", "OPENAI_", "DATABASE_URL", "TELEGRAM_", "SLACK_", "FEISHU_")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a process ended.

    Args:
        code: Exit code.
        out: Standard output.
        err: Standard error.
        seconds: How long it ran.
    """

    code: int
    out: str
    err: str
    seconds: float


def environment(site: Site) -> dict[str, str]:
    """The environment of a process on a site: nothing of what this machine has configured for itself."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return {**inherited, "HART_HOME": str(site.home), "COLUMNS": "200", **site.environ}


async def run_hart(site: Site, *arguments: str, under: Sequence[str] = (), stdin: bytes = b"") -> Outcome:
    """Write the site's configuration, run a command to its end, and say how it went.

    Args:
        site: Where.
        arguments: Of ``hart``.
        under: A command that runs ours, such as ``unshare``.
        stdin: What it may read.
    """
    site.write()
    began = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *under,
        str(HART),
        *arguments,
        cwd=site.root,
        env=environment(site),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            out, err = await process.communicate(stdin)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    return Outcome(process.returncode, out.decode(), err.decode(), time.monotonic() - began)


@dataclass(frozen=True, slots=True)
class Service:
    """A ``hart run`` that is up."""

    process: asyncio.subprocess.Process
    greeting: tuple[str, ...]

    async def line(self) -> str:
        """The next line it prints."""
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            return (await self.process.stdout.readline()).decode().rstrip("\n")

    async def ended(self) -> int:
        """Wait for its end; its exit code."""
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()


@asynccontextmanager
async def service(site: Site) -> AsyncIterator[Service]:
    """``hart run --no-console`` while the block runs; killed at its end if it still runs."""
    site.write()
    with (site.root / "service.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            str(HART),
            "run",
            "--no-console",
            cwd=site.root,
            env=environment(site),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )
        try:
            running = Service(process, ())
            greeting = [await running.line()]
            assert greeting[0].startswith("Hart is running."), (site.root / "service.log").read_text()
            channels = load(site.root, site.environ).channels.states()
            greeting += [await running.line() for _ in range(1 + len(channels))]
            yield Service(process, tuple(greeting))
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
