"""Hart between emulators, in this process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.model_server import ANSWER, ModelServer, model_server
from bot.app import Hart, Parts
from bot.store import lanes
from channels.messages import Address, ChatKind, InboundMessage, Sender
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site, hart_on

QUESTION = "What did we decide about the release on Thursday, and who writes the notes for it? " * 2
PAYLOAD_BYTES = len(QUESTION) + len(ANSWER)
"""What one turn is about: a question and an answer."""

LOOK_SECONDS = 0.01
"""How often the ledger is asked whether all is done; part of what is measured where the end counts."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A running Hart, the servers it talks to, and the place it works in."""

    hart: Hart
    openai: ModelServer
    telegram: TelegramEmulator
    site: Site

    async def idle(self) -> None:
        """Wait until nothing is open any more."""
        while True:
            if not await self.hart.database.run(lanes.open_lanes):
                return
            await asyncio.sleep(LOOK_SECONDS)


@asynccontextmanager
async def stage(
    root: Path, database_url: str | None, parts: Parts | None = None, *, long_answers: bool = False
) -> AsyncIterator[Stage]:
    """Run Hart on an empty home while the block runs."""
    async with model_server(long=long_answers) as openai, TelegramEmulator() as telegram:
        site = site_of(root, database_url, openai, telegram)
        async with hart_on(site, parts=parts or Parts(platforms=False, schedule=False)) as hart:
            yield Stage(hart, openai, telegram, site)


def site_of(root: Path, database_url: str | None, openai: ModelServer, telegram: TelegramEmulator) -> Site:
    """A configuration that connects Hart with both emulators, in a new folder."""
    root.mkdir(parents=True)
    site = Site(root, database_url)
    site.use_openai(openai)
    site.use_telegram(telegram)
    site.config["limits"] = {"concurrent_runs": 100, "drain_seconds": 0}
    return site


def message(chat: str, number: int, text: str = QUESTION) -> InboundMessage:
    """A message in a chat of the web page."""
    return InboundMessage(
        address=Address("web", "main", chat),
        chat_kind=ChatKind.DIRECT,
        sender=Sender("local"),
        message_id=f"m{number}",
        dedupe_key=f"web:{chat}:m{number}",
        text=f"{text}({number})",
    )
