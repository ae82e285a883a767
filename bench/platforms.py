"""All three platforms in this process: how many answers are right, and how long the event loop is held up."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.figures import Figure, percentiles
from bench.model_server import ANSWER, model_server
from tests.emulators.feishu import FeishuEmulator
from tests.emulators.slack import SlackEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site, hart_on
from tests.platforms import OnFeishu, OnSlack, OnTelegram
from tests.traffic import MESSAGES, Traffic, say_all

SAMPLE_SECONDS = 0.005
"""How often the loop is looked at."""

PATIENCE = 600.0


async def loop_lag(root: Path, storage: str, database_url: str | None) -> list[Figure]:
    """Three hundred messages at once, a hundred on each platform; the lag is taken until all are answered."""
    site = _site(root, database_url)
    async with (
        model_server() as openai,
        TelegramEmulator() as telegram,
        SlackEmulator() as slack,
        FeishuEmulator() as feishu,
    ):
        site.use_openai(openai)
        platforms = (OnTelegram(telegram), OnSlack(slack), OnFeishu(feishu))
        for platform in platforms:
            platform.use(site)
        traffic = [Traffic(platform) for platform in platforms]
        async with hart_on(site):
            await asyncio.gather(*(platform.wait_until_listening() for platform in platforms))
            count = say_all(traffic)  # at once: what it takes to write them is not Hart's
            began = time.monotonic()
            async with _sampled() as lags:
                await asyncio.gather(
                    *(
                        platform.wait_for(lambda p=platform: len(p.seen()) >= MESSAGES, PATIENCE)
                        for platform in platforms
                    )
                )
            took = time.monotonic() - began
    right = sum(
        text.strip() == ANSWER.strip()
        for one in traffic
        for place, texts in one.answered().items()
        for text in texts[: len(one.asked[place])]
    )
    note = "emulated platforms in the same process"
    return [
        Figure(storage, "platforms, right answers", right, "", f"of {count}"),
        Figure(storage, "platforms, answers", count / took, "/s", note),
        *percentiles(storage, "platforms, loop lag", lags, note),
        Figure(storage, "platforms, loop lag, longest", max(lags) * 1000, "ms", note),
    ]


def _site(root: Path, database_url: str | None) -> Site:
    root.mkdir(parents=True)
    site = Site(root, database_url)
    site.config["limits"] = {"drain_seconds": 0}
    return site


@asynccontextmanager
async def _sampled() -> AsyncIterator[list[float]]:
    """Seconds by which a timer was late, taken while the block runs.

    A timer that is late by several periods counts for each of them: all that was due then was late.
    """
    lags: list[float] = []

    async def sample() -> None:
        while True:
            due = time.monotonic() + SAMPLE_SECONDS
            await asyncio.sleep(SAMPLE_SECONDS)
            late = max(0.0, time.monotonic() - due)
            lags.extend(late - missed * SAMPLE_SECONDS for missed in range(1 + int(late / SAMPLE_SECONDS)))

    sampling = asyncio.create_task(sample())
    try:
        yield lags
    finally:
        sampling.cancel()
        await asyncio.gather(sampling, return_exceptions=True)
