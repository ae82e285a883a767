"""Run the emulator by itself: ``python -m tests.emulators.slack --port N``.

People write through ``POST /control/say``; ``GET /control/sent`` shows what the bot answered.
"""

import argparse
import asyncio
import signal

from tests.emulators.slack.server import SlackEmulator


async def _serve(port: int) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with SlackEmulator(port) as slack:
        print(
            f"base_url {slack.base_url} bot_token {slack.bot_token} app_token {slack.app_token}", flush=True
        )
        await stop.wait()


def main() -> None:
    """Parse the command line and serve until told to stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(_serve(parser.parse_args().port))


if __name__ == "__main__":
    main()
