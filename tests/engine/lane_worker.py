"""A node of its own: takes lanes from Postgres, says which, and never finishes one.

Run as ``python -m tests.engine.lane_worker CONNINFO``; it is there to be killed.
"""

import asyncio
import sys

from bot.engine.postgres import PostgresDispatcher
from bot.lanes import Lane, LaneKind


async def _hold(lane: Lane) -> None:
    print(lane.name, flush=True)
    await asyncio.Event().wait()


async def _main(conninfo: str) -> None:
    dispatcher = PostgresDispatcher(conninfo, {LaneKind.THREAD: 4})
    await dispatcher.start(_hold)
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1]))
