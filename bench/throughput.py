"""How many messages a second one process answers."""

import asyncio
import time
from pathlib import Path

from bench.figures import Figure
from bench.stage import message, stage

THREADS = (1, 10, 100)


async def answers_per_second(root: Path, storage: str, database_url: str | None, count: int) -> list[Figure]:
    """The same number of messages in one thread, in ten and in a hundred."""
    figures = []
    for threads in THREADS:
        async with stage(root / str(threads), database_url) as here:
            await here.hart.inbox.accept(message(f"warm-{threads}", 0))
            await here.idle()
            began = time.monotonic()
            await asyncio.gather(
                *(
                    here.hart.inbox.accept(message(f"t{threads}-{number % threads}", number))
                    for number in range(count)
                )
            )
            await here.idle()
            took = time.monotonic() - began
        figures.append(
            Figure(storage, f"answers, {threads} threads", count / took, "/s", f"{count} messages")
        )
    return figures
