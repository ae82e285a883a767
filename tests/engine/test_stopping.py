"""``/stop``: at once, wherever the run is, and the conversation stays whole."""

import asyncio
import time
from contextlib import AsyncExitStack, aclosing
from datetime import timedelta
from pathlib import Path

from bot.app import Parts
from bot.store.tables import Run
from channels.feed import FeedEntry
from channels.views import RunView
from tests.clock import ManualClock
from tests.emulators.openai import Call, ChatRequest, Fault, OpenAIEmulator, Reply, echo
from tests.emulators.telegram import TelegramEmulator
from tests.engine.ledger import eventually, rows
from tests.engine.people import PATIENCE, Person
from tests.hart import Site, hart_on, local_client

AT_ONCE = 1.0
"""Seconds."""


async def test_a_model_call_ends_within_a_second_and_the_conversation_goes_on(
    open_site: Site, openai: OpenAIEmulator, ada: Person
) -> None:
    async with hart_on(open_site) as hart:
        ada.says("hello")
        await ada.hears(1)
        openai.fail(Fault.hang())
        ada.says("something long")
        await openai.wait_for(lambda: len(openai.requests) == 2, timeout=PATIENCE)
        asked = time.monotonic()
        ada.says("/stop")
        await openai.wait_for(lambda: openai.disconnects == 1, timeout=PATIENCE)
        took = time.monotonic() - asked
        heard = await ada.hears(3)
        ada.says("go on")
        after = (await ada.hears(4))[-1]
        states = [run.state for run in sorted(await rows(hart, Run), key=lambda run: run.inbound_id)]
    assert took < AT_ONCE
    assert sorted(heard[1:]) == ["Stopped.", "Stopping."]
    assert after == "answer to: go on"
    assert states == ["done", "stopped", "done"]
    # The emulator refuses a history that a strict provider would refuse; nothing of it was refused.
    assert [request.status for request in openai.requests] == [200, 0, 200]
    assert [message["role"] for message in openai.accepted[-1].messages] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]


async def test_a_tool_ends_soon_and_its_call_is_answered_in_the_history(
    open_site: Site, openai: OpenAIEmulator
) -> None:
    def model(request: ChatRequest) -> Reply:
        if request.last_user_text.startswith("read"):
            return Reply(calls=(Call("read_feed", {"url": "file:feeds/big.xml"}),))
        return echo(request)

    _write_a_feed_that_takes_seconds(open_site.root / "feeds" / "big.xml")
    open_site.config["tools"] = {"feeds": {"allow_files": ["feeds"]}}
    openai.responder = model
    async with hart_on(open_site) as hart, local_client(hart) as client:
        page = await client.history("desk", 1)
        async with aclosing(client.follow("desk", page.cursor)) as events:
            await client.post("desk", "read it", "m1")
            async for event in events:
                if isinstance(event, RunView) and event.tools and not event.tools[0].done:
                    break
            asked = time.monotonic()
            await client.post("desk", "/stop", "m2")
            async for event in events:
                if isinstance(event, FeedEntry) and event.in_reply_to == "m1":
                    break
            took = time.monotonic() - asked
            assert event.text == "Stopped."
            await client.post("desk", "go on", "m3")
            async for event in events:
                if isinstance(event, FeedEntry) and event.in_reply_to == "m3":
                    break
            assert event.text == "answer to: go on"
    # Longer than elsewhere: the tool's thread, which nothing can end, takes its share of the processor.
    assert took < AT_ONCE * 5
    assert [request.status for request in openai.requests] == [200, 200]


def _write_a_feed_that_takes_seconds(path: Path) -> None:
    path.parent.mkdir()
    item = "<item><title>{0}</title><link>https://example.org/{0}</link><description>&lt;p&gt;{0}</description></item>"
    items = "".join(item.format(number) for number in range(4_900))
    path.write_text(f"<rss version='2.0'><channel><title>Big</title>{items}</channel></rss>")


async def test_a_run_that_waits_for_its_retry_ends_without_another_try(
    open_site: Site, openai: OpenAIEmulator, ada: Person
) -> None:
    model = {"name": "broken", "use": "tests.engine.broken_model:BrokenModel"}
    open_site.config["models"] = [model]
    clock = ManualClock()
    async with hart_on(open_site, clock) as hart:
        ada.says("try")
        (run,) = await eventually(lambda: _postponed(hart))
        ada.says("/stop")
        assert sorted(await ada.hears(2)) == ["Stopped.", "Stopping."]
        (run,) = await rows(hart, Run)
    assert (run.state, run.attempts) == ("stopped", 2)  # the second only found the request to stop


async def _postponed(hart) -> list[Run]:
    return [run for run in await rows(hart, Run) if run.not_before is not None]


async def test_with_nothing_running_it_says_so(open_site: Site, ada: Person) -> None:
    async with hart_on(open_site):
        ada.says("/stop")
        ada.says("hello")
        await ada.hears(2)
        ada.says("/stop")
        heard = await ada.hears(3)
    assert sorted(heard) == ["Nothing is running here.", "Nothing is running here.", "answer to: hello"]


async def test_only_what_came_before_is_stopped(open_site: Site, openai: OpenAIEmulator, ada: Person) -> None:
    openai.fail(Fault.hang())
    async with hart_on(open_site):
        ada.says("long")
        await openai.wait_for(lambda: len(openai.requests) == 1, timeout=PATIENCE)
        ada.says("next")
        ada.says("/stop")
        heard = await ada.hears(3)
    assert "Stopping. 1 more message is waiting behind it." in heard
    assert [text for text in heard if not text.startswith("Stopping")] == ["Stopped.", "answer to: next"]


async def test_it_reaches_a_run_on_another_node(
    postgres_url: str, openai: OpenAIEmulator, telegram: TelegramEmulator, tmp_path: Path
) -> None:
    ada = Person.new(telegram, 7, "Ada")
    async with AsyncExitStack() as stack:
        nodes = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            site = Site(tmp_path / name, postgres_url)
            site.use_openai(openai)
            site.use_telegram(telegram)
            site.config["limits"] = {"drain_seconds": 0, "concurrent_runs": 1}
            nodes.append(await stack.enter_async_context(hart_on(site, parts=Parts(schedule=False))))
        openai.fail(Fault.hang(), Fault.hang())
        # One run fits on each node: with two people busy, both nodes work.
        bo = Person.new(telegram, 8, "Bo")
        ada.says("long")
        bo.says("long")
        await openai.wait_for(lambda: len(openai.requests) == 2, timeout=PATIENCE)
        for number, person in enumerate((ada, bo), 1):
            asked = time.monotonic()
            person.says("/stop")
            await openai.wait_for(lambda number=number: openai.disconnects == number, timeout=PATIENCE)
            assert time.monotonic() - asked < AT_ONCE * 2
            assert sorted(await person.hears(2)) == ["Stopped.", "Stopping."]


async def test_a_stop_told_again_after_its_run_ended_stops_nothing_else(
    open_site: Site, openai: OpenAIEmulator, ada: Person
) -> None:
    clock = ManualClock()
    async with hart_on(open_site, clock):
        openai.fail(Fault.hang())
        ada.says("long")
        await openai.wait_for(lambda: len(openai.requests) == 1, timeout=PATIENCE)
        ada.says("/stop")
        await ada.hears(2)
        clock.move(timedelta(seconds=1))
        gate = asyncio.Event()

        async def model(request: ChatRequest) -> Reply:
            await gate.wait()
            return echo(request)

        openai.responder = model
        ada.says("quick")
        await openai.wait_for(lambda: len(openai.requests) == 2, timeout=PATIENCE)
        gate.set()
        assert (await ada.hears(3))[-1] == "answer to: quick"


async def test_it_reaches_what_was_begun_before_a_new_conversation(
    open_site: Site, openai: OpenAIEmulator, ada: Person
) -> None:
    openai.fail(Fault.hang())
    async with hart_on(open_site):
        ada.says("a long one")
        await openai.wait_for(lambda: len(openai.requests) == 1)
        ada.says("/new")
        ada.says("/stop")
        heard = await ada.hears(3)
    assert "Stopping." in heard
    assert "Stopped." in heard
