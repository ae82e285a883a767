"""Reaching the Hart of a home: the running one, or one of our own for as long as a command needs it."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx

from bot.cli.environment import Surroundings
from bot.home import Home, HomeBusyError
from bot.logs import log_to_file
from bot.serverfile import ServerFile

PROBE_SECONDS = 3.0
PROBE_EVERY = 0.5
ANSWER_SECONDS = 40.0
TRIES = 60


@asynccontextmanager
async def connected(around: Surroundings) -> AsyncIterator[ServerFile]:
    """The server to talk to while the block runs: the home's running one, or an embedded one.

    Raises:
        OperatorError: There is none and none can be started.
    """
    async with AsyncExitStack() as stack:
        yield await _reach(around, stack)


def local_http(server: ServerFile) -> httpx.AsyncClient:
    """A client of the local server, let in by its token."""
    return httpx.AsyncClient(
        base_url=server.url,
        headers={"Authorization": f"Bearer {server.token}"},
        timeout=ANSWER_SECONDS,
        trust_env=False,
    )


async def _reach(around: Surroundings, stack: AsyncExitStack) -> ServerFile:
    for _ in range(TRIES):
        server = await _running(around.home) or await _embedded(around, stack)
        if server is not None:
            return server
        await asyncio.sleep(PROBE_EVERY)  # another Hart is just starting, or just stopping
    raise HomeBusyError(
        f"Another Hart works in {around.home.root} and does not answer. "
        "Stop it, or set HART_HOME to another folder."
    )


async def _running(home: Home) -> ServerFile | None:
    found = ServerFile.read(home.server_file)
    return found if found is not None and await _answers(found) else None


async def _embedded(around: Surroundings, stack: AsyncExitStack) -> ServerFile | None:
    """A Hart of our own, until the stack is closed; None when another process has the home."""
    # Imported here: the agent's libraries take seconds to load, and joining a running Hart needs none.
    from bot.app import EMBEDDED, running

    around.home.prepare()
    log_to_file(around.home.log_file)
    try:
        hart = await stack.enter_async_context(
            running(around.settings, around.home, around.environ, EMBEDDED)
        )
    except HomeBusyError:
        return None
    return ServerFile(hart.url, hart.local_token, os.getpid())


async def _answers(server: ServerFile) -> bool:
    """Whether a Hart that knows our token listens there."""
    headers = {"Authorization": f"Bearer {server.token}"}
    async with httpx.AsyncClient(timeout=PROBE_SECONDS, trust_env=False) as http:
        try:
            response = await http.get(f"{server.url}/api/tasks", headers=headers)
        except httpx.HTTPError:
            return False
    return response.status_code == httpx.codes.OK
