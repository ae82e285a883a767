"""``hart run``: the service."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.environment import ConfigDirectory, Surroundings, surroundings
from bot.logs import log_to_file, log_to_stderr
from channels.console.client import LocalClient
from channels.console.repl import run_repl

if TYPE_CHECKING:
    from bot.app import Hart

CHAT = "main"


def run(
    config: ConfigDirectory = Path(),
    console: Annotated[
        bool | None,
        typer.Option("--console/--no-console", help="Chat in this terminal. Default: when there is one."),
    ] = None,
) -> None:
    """Run the bot: all channels that are on, the schedule, and a web page."""
    around = surroundings(config)
    with_console = console if console is not None else sys.stdin.isatty() and sys.stdout.isatty()
    around.home.prepare()
    if with_console:
        log_to_file(around.home.log_file)
    else:
        log_to_stderr()
    raise typer.Exit(asyncio.run(_serve(around, with_console=with_console)))


async def _serve(around: Surroundings, *, with_console: bool) -> int:
    # Imported here: the agent's libraries take seconds to load, and `hart --help` needs none of them.
    from bot.app import Parts, running

    with _stop_signals() as stopped:
        async with running(around.settings, around.home, around.environ, Parts()) as hart:
            for line in _greeting(around, hart):
                print(line, flush=True)
            if not with_console:
                await stopped.wait()
                print("Stopping; running work has a moment to finish.", flush=True)
                return 0
            return await _chat_until(stopped, hart)


async def _chat_until(stopped: asyncio.Event, hart: "Hart") -> int:
    async with LocalClient(hart.url, hart.local_token) as client:
        repl = asyncio.create_task(run_repl(client, CHAT, hart.home.root))
        stop = asyncio.create_task(stopped.wait())
        await asyncio.wait({repl, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if not repl.done():
            repl.cancel()
        await asyncio.gather(repl, stop, return_exceptions=True)
    return 0


@contextmanager
def _stop_signals() -> Iterator[asyncio.Event]:
    """An event set by the first SIGTERM or SIGINT; a second one ends the process at once."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        if stopped.is_set():
            os._exit(130)
        stopped.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
    try:
        yield stopped
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


def _greeting(around: Surroundings, hart: "Hart") -> Iterator[str]:
    config = around.settings.config
    yield f"Hart is running. Web chat: {hart.url}"
    yield f"Model: {config.default_model}"
    for state in around.settings.channels.states():
        yield f"  {state}"
    for problem in hart.skills.problems:
        yield f"A skill is left out. {problem}"
