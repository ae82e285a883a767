"""Reaching the Hart of a home: the running one, or one of our own for as long as a command needs it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from bot.cli.environment import Surroundings
from bot.logs import log_to_file
from bot.serverfile import ServerFile

PROBE_SECONDS = 3.0


@asynccontextmanager
async def connected(around: Surroundings) -> AsyncIterator[ServerFile]:
    """The server to talk to while the block runs: the home's running one, or an embedded one.

    Raises:
        OperatorError: There is none and none can be started.
    """
    found = ServerFile.read(around.home.server_file)
    if found is not None and await _answers(found):
        yield found
        return
    # Imported here: the agent's libraries take seconds to load, and joining a running Hart needs none.
    from bot.app import EMBEDDED, running

    around.home.prepare()
    log_to_file(around.home.log_file)
    async with running(around.settings, around.home, around.environ, EMBEDDED) as hart:
        yield ServerFile(hart.url, hart.local_token, 0)


async def _answers(server: ServerFile) -> bool:
    """Whether a Hart that knows our token listens there."""
    headers = {"Authorization": f"Bearer {server.token}"}
    async with httpx.AsyncClient(timeout=PROBE_SECONDS, trust_env=False) as http:
        try:
            response = await http.get(f"{server.url}/api/tasks", headers=headers)
        except httpx.HTTPError:
            return False
    return response.status_code == httpx.codes.OK
