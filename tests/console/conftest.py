from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from channels.console.client import LocalClient
from tests.web.local_hall import LocalServer, local_server


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[LocalServer]:
    async with local_server(tmp_path / "hall") as running:
        yield running


@pytest.fixture
async def client(server: LocalServer) -> AsyncIterator[LocalClient]:
    async with LocalClient(server.url) as local:
        yield local
