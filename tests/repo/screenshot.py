"""Takes the picture of a chat for README.md: ``python -m tests.repo.screenshot``.

Hart runs with the stand-in model, Chromium looks at its page, and what is seen is kept.
"""

import asyncio
import shutil
import tempfile
from pathlib import Path

from playwright.async_api import Page, async_playwright

from tests.hart import Site, hart_on
from tests.repo.tree import ROOT

PICTURE = ROOT / "docs" / "images" / "chat.png"
CHROMIUM = "/usr/bin/chromium"
ARGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
SIZE = {"width": 820, "height": 700}
SAID = (
    ("Write a file ideas.md with Try tideclock for the night jobs", "ideas.md"),
    ("Make a digest of file:examples/feeds/python.atom", "digest.md"),
)
"""What is said, and the file that the answer brings."""


async def take(target: Path) -> None:
    """Hold the conversation and write its picture."""
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder))
        shutil.copytree(ROOT / "examples", site.root / "examples")
        async with hart_on(site) as hart, async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
            page = await browser.new_page(viewport=SIZE)
            await page.goto(hart.url)
            for said, file in SAID:
                await _say(page, said, file)
            await page.evaluate("document.activeElement.blur()")
            await page.screenshot(path=target)
            await browser.close()


async def _say(page: Page, text: str, file: str) -> None:
    await page.fill("#text", text)
    await page.press("#text", "Enter")
    await page.locator("#log .entry.hart a[download]", has_text=file).wait_for()


if __name__ == "__main__":
    asyncio.run(take(PICTURE))
