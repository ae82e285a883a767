"""``hart run`` as a process: signals, greeting, files it leaves."""

import asyncio
import json
import signal
import stat
import time

import httpx
import pytest

from tests.cli.process import run_hart, service
from tests.emulators.openai import ChatRequest, Fault, OpenAIEmulator, Reply, echo
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site


@pytest.fixture
def site(site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator) -> Site:
    site.use_openai(openai)
    site.use_telegram(telegram)
    site.config["limits"] = {"drain_seconds": 60, "model_retries": 0}
    return site


async def test_it_says_what_is_on_and_how_to_reach_it(site: Site) -> None:
    async with service(site) as running:
        server = json.loads((site.home / "server.json").read_text())
        assert running.greeting[0] == f"Hart is running. Web chat: {server['url']}"
        assert running.greeting[1] == "Model: test-model"
        assert {"  web: on", "  console: on", "  telegram: on"} <= set(running.greeting[2:])
        assert server["pid"] == running.process.pid
        async with httpx.AsyncClient(base_url=server["url"], trust_env=False) as http:
            assert (await http.get("/healthz")).json() == {"status": "ok"}
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (site.home, *site.home.iterdir())}
    assert modes["server.json"] == 0o600
    assert modes["home"] == 0o700


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_cleanly(site: Site, number: signal.Signals) -> None:
    async with service(site) as running:
        running.process.send_signal(number)
        assert await running.line() == "Stopping; running work has a moment to finish."
        assert await running.ended() == 0
    assert not (site.home / "server.json").exists()
    assert "Traceback" not in (site.root / "service.log").read_text()


async def test_a_run_under_way_is_finished_first(
    site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator
) -> None:
    ada = telegram.user(7, "Ada")
    async with service(site) as running:
        gate = asyncio.Event()

        async def model(request: ChatRequest) -> Reply:
            await gate.wait()
            return echo(request)

        openai.responder = model
        telegram.say(telegram.private_chat(ada), ada, "hello")
        await openai.wait_for(lambda: len(openai.requests) == 1, timeout=60)
        running.process.terminate()
        await running.line()
        gate.set()
        assert await running.ended() == 0
    assert [sent.text for sent in telegram.sent] == ["answer to: hello"]


async def test_a_second_signal_ends_it_at_once_and_the_next_life_finishes_the_work(
    site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator
) -> None:
    ada = telegram.user(7, "Ada")
    openai.fail(Fault.hang())
    async with service(site) as running:
        telegram.say(telegram.private_chat(ada), ada, "hello")
        await openai.wait_for(lambda: len(openai.requests) == 1, timeout=60)
        running.process.terminate()
        await running.line()
        asked = time.monotonic()
        running.process.terminate()
        assert await running.ended() == 130
        assert time.monotonic() - asked < 5
    async with service(site):
        (sent,) = await telegram.wait_for_sent(1, timeout=60)
    assert sent.text == "answer to: hello"


async def test_a_crash_leaves_nothing_that_keeps_the_next_start_away(site: Site) -> None:
    async with service(site) as running:
        running.process.kill()
        await running.ended()
    assert (site.home / "server.json").exists()
    assert (await run_hart(site, "chat", "-m", "hello")).out == "answer to: hello\n"
