"""Run the emulator by itself: ``python -m tests.emulators.openai --port N``; it echoes."""

import argparse
import asyncio
import signal

from tests.emulators.openai.replies import Reply, echo
from tests.emulators.openai.server import API_KEY, OpenAIEmulator
from tests.emulators.openai.wire import ChatRequest


async def _serve(port: int, model: str, delay: float) -> None:
    def respond(request: ChatRequest) -> Reply:
        return Reply(echo(request).text, delay=delay)

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with OpenAIEmulator(respond, models=(model,), port=port) as emulator:
        print(f"base_url {emulator.base_url} model {model} api_key {API_KEY}", flush=True)
        await stop.wait()


def main() -> None:
    """Parse the command line and serve until told to stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--model", default="test-model")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    options = parser.parse_args()
    asyncio.run(_serve(options.port, options.model, options.delay))


if __name__ == "__main__":
    main()
