import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import pytest

from tests.web.local_hall import LocalServer, local_server


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[LocalServer]:
    async with local_server(tmp_path) as running:
        yield running


@pytest.fixture
async def http(server: LocalServer) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, headers={"x-hart": "1"}) as client:
        yield client


async def eventually(fact: Callable[[], bool] | Callable[[], Awaitable[bool]], seconds: float = 10.0) -> None:
    """Wait until something is true."""
    async with asyncio.timeout(seconds):
        while True:
            result = fact()
            if (await result) if isinstance(result, Awaitable) else result:
                return
            await asyncio.sleep(0.01)
