"""How long a message waits: for the model to be asked, and for its whole answer."""

import time
from pathlib import Path

from bench.figures import Figure, percentiles
from bench.stage import message, stage
from bot.app import Parts

WARM_UP = 10
CHATS = 10
"""Messages go round so many chats, so that each has a history and none a long one."""


async def to_the_model(root: Path, storage: str, database_url: str | None, count: int) -> list[Figure]:
    """From a message to the request that reaches the model server, one message at a time."""
    stored, asked, whole = [], [], []
    async with stage(root, database_url) as here:
        for number in range(WARM_UP + count):
            seen = len(here.openai.arrivals)
            began = time.monotonic()
            await here.hart.inbox.accept(message(f"chat-{number % CHATS}", number))
            kept = time.monotonic()
            await here.openai.wait_for(seen + 1)
            reached = here.openai.arrivals[seen]
            await here.idle()
            if number >= WARM_UP:
                stored.append(kept - began)
                asked.append(reached - kept)
                whole.append(time.monotonic() - began)
    return [
        *percentiles(storage, "message stored", stored),
        *percentiles(storage, "stored to model request", asked),
        *percentiles(storage, "message to settled answer", whole),
    ]


async def over_telegram(root: Path, storage: str, database_url: str | None, count: int) -> list[Figure]:
    """From a person's message to the bot's, over the emulated Telegram."""
    took = []
    async with stage(root, database_url, Parts(schedule=False)) as here:
        user = here.telegram.user(7, "Ada")
        chat = here.telegram.private_chat(user)
        for number in range(WARM_UP + count):
            began = time.monotonic()
            here.telegram.say(chat, user, f"question {number}")
            await here.telegram.wait_for_sent(number + 1, timeout=60)
            if number >= WARM_UP:
                took.append(time.monotonic() - began)
    return percentiles(storage, "Telegram, whole answer", took)
