"""Run the emulator by itself: ``python -m tests.emulators.feishu --port N``.

People write through ``POST /control/say``; ``GET /control/sent`` shows what the bot answered.
"""

import argparse
import asyncio
import signal

from tests.emulators.feishu.server import FeishuEmulator


async def _serve(port: int) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with FeishuEmulator(port) as feishu:
        print(f"domain {feishu.base_url} app_id {feishu.app_id} app_secret {feishu.app_secret}", flush=True)
        await stop.wait()


def main() -> None:
    """Parse the command line and serve until told to stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(_serve(parser.parse_args().port))


if __name__ == "__main__":
    main()
