"""What ``hart run`` costs as a process: to start, to keep, and to do nothing."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil

from bench.figures import Figure
from bench.model_server import model_server
from bench.stage import site_of
from tests.cli.process import HART, environment
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site

SETTLE_SECONDS = 3.0
MESSAGES = 20


async def footprint(root: Path, storage: str, database_url: str | None, seconds: float) -> list[Figure]:
    """Start the service, leave it alone, then talk to it."""
    async with model_server() as openai, TelegramEmulator() as telegram:
        site = site_of(root, database_url, openai, telegram)
        site.write()
        began = time.monotonic()
        async with _service(site) as process:
            started = time.monotonic() - began
            await asyncio.sleep(SETTLE_SECONDS)
            idle_memory = process.memory_info().rss
            cpu = await _cpu_share(process, seconds)
            user = telegram.user(7, "Ada")
            chat = telegram.private_chat(user)
            for number in range(MESSAGES):
                telegram.say(chat, user, f"question {number}")
                await telegram.wait_for_sent(number + 1, timeout=60)
            busy_memory = process.memory_info().rss
    return [
        Figure(storage, "start to ready", started, "s"),
        Figure(storage, "memory, idle", idle_memory / 2**20, "MiB"),
        Figure(storage, f"memory, after {MESSAGES} answers", busy_memory / 2**20, "MiB"),
        Figure(storage, "idle CPU of one core", cpu * 100, "%", f"over {seconds:.0f} s, Telegram polled"),
    ]


async def _cpu_share(process: psutil.Process, seconds: float) -> float:
    before, began = _cpu_seconds(process), time.monotonic()
    await asyncio.sleep(seconds)
    return (_cpu_seconds(process) - before) / (time.monotonic() - began)


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@asynccontextmanager
async def _service(site: Site) -> AsyncIterator[psutil.Process]:
    child = await asyncio.create_subprocess_exec(
        str(HART),
        "run",
        "--no-console",
        cwd=site.root,
        env=environment(site),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert child.stdout is not None
    try:
        async with asyncio.timeout(120):
            await child.stdout.readuntil(b"Hart is running")
        yield psutil.Process(child.pid)
    finally:
        child.terminate()
        await child.wait()
