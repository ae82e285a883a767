"""``hart chat``: talk to the bot from a terminal or a script."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.connect import connected
from bot.cli.environment import ConfigDirectory, Surroundings, surroundings
from channels.console.client import LocalClient
from channels.console.oneshot import run_oneshot
from channels.console.repl import run_repl


def chat(
    config: ConfigDirectory = Path(),
    message: Annotated[str | None, typer.Option("--message", "-m", help="Ask this once and exit.")] = None,
    thread: Annotated[str, typer.Option(help="Which conversation; a new name starts a new one.")] = "main",
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as one JSON object.")] = False,
    file: Annotated[list[Path] | None, typer.Option(help="Send a file along; may be repeated.")] = None,
    timeout: Annotated[float, typer.Option(help="Seconds to wait for the answer.")] = 600.0,
) -> None:
    """Chat in this terminal, or ask one thing with -m. Joins a running Hart of the same home."""
    around = surroundings(config)
    if message is None and (as_json or file):
        raise typer.BadParameter("--json and --file go with -m.")
    raise typer.Exit(asyncio.run(_chat(around, message, thread, file or [], timeout, as_json=as_json)))


async def _chat(
    around: Surroundings,
    message: str | None,
    thread: str,
    files: list[Path],
    timeout: float,
    *,
    as_json: bool,
) -> int:
    async with connected(around) as server, LocalClient(server.url, server.token) as client:
        if message is None:
            return await run_repl(client, thread, around.home.root)
        return await run_oneshot(
            client,
            thread,
            message,
            files,
            downloads=around.home.downloads,
            as_json=as_json,
            timeout=timeout,
        )
