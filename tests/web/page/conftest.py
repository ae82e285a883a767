from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Browser

from tests.web.local_hall import LocalServer, local_server
from tests.web.page.browser import Look, Watched, chromium


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as started:
        yield started


@pytest_asyncio.fixture(loop_scope="module")
async def server(tmp_path: Path) -> AsyncIterator[LocalServer]:
    async with local_server(tmp_path) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def look(browser: Browser) -> AsyncIterator[Look]:
    """Opens pages, each in a fresh profile; fails when one asked any other server for anything."""
    seen: list[Watched] = []

    async def at(url: str, beside: Watched | None = None) -> Watched:
        context = beside.page.context if beside else await browser.new_context()
        watched = Watched(await context.new_page())
        seen.append(watched)
        await watched.open(url)
        return watched

    yield at
    for watched in seen:
        await watched.page.context.close()
        assert watched.strangers() == []
