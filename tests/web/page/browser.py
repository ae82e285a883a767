"""A real Chromium looking at the page, and a record of all it did."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pytest
from playwright.async_api import Browser, Page, Request, async_playwright

CHROMIUM = Path("/usr/bin/chromium")
ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

needs_chromium = [
    pytest.mark.browser,
    # One browser serves a module, so its tests share a loop.
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(
        not CHROMIUM.exists() and not os.environ.get("CI"), reason="Chromium is not installed"
    ),
]


@dataclass
class Watched:
    """A page, what it asked for, and what it complained about."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    origin: str = ""

    def __post_init__(self) -> None:
        self.page.on("request", self._requested)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        self.page.on("console", lambda message: self._said(message.type, message.text))

    def _requested(self, request: Request) -> None:
        if not request.url.startswith(("data:", "blob:")):
            self.requests.append(request.url)

    def _said(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(f"{kind}: {text}")

    async def open(self, url: str) -> None:
        """Go to the page, with a listener that reports what its policy refused."""
        self.page.set_default_timeout(15_000)
        await self.page.add_init_script(
            "addEventListener('securitypolicyviolation',"
            " (e) => console.error('policy: ' + e.violatedDirective))"
        )
        await self.page.goto(url)
        self.origin = "/".join(url.split("/")[:3])

    def strangers(self) -> list[str]:
        """Requests to any server but ours."""
        return [url for url in self.requests if not url.startswith(f"{self.origin}/")]

    async def say(self, text: str) -> None:
        """Type a message and send it as a person does."""
        await self.page.fill("#text", text)
        await self.page.press("#text", "Enter")

    async def answer(self, text: str) -> None:
        """Wait until an answer with this text stands in the log."""
        await self.page.locator("#log .entry.hart", has_text=text).first.wait_for()

    async def texts(self, selector: str) -> list[str]:
        """The texts of all matching nodes."""
        return [text.strip() for text in await self.page.locator(selector).all_inner_texts()]


class Look(Protocol):
    """Opens a page; ``beside`` another one, it is a second window of the same person."""

    async def __call__(self, url: str, beside: Watched | None = None) -> Watched: ...


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A browser with a fresh profile."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(ARGS))
        try:
            yield browser
        finally:
            await browser.close()
