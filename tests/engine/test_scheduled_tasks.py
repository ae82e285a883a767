"""Tasks on a schedule: one fire per occurrence, on any number of nodes, over restarts."""

import asyncio
import shutil
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from bot.app import Hart, Parts
from bot.store.tables import Delivery, TaskRun
from channels.feed import FeedEntry
from tests.clock import ManualClock
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.engine.ledger import eventually, rows
from tests.engine.people import Person
from tests.hart import Site, hart_on, local_client

MINUTE = timedelta(minutes=1)
EXAMPLES = Path(__file__).parents[2] / "examples"


def minutely(*targets: dict[str, str], enabled: bool = True) -> list[dict[str, object]]:
    """One task that is due each minute."""
    return [
        {
            "name": "minutely",
            "enabled": enabled,
            "schedule": {"cron": "* * * * *"},
            "prompt": "tick",
            "targets": list(targets) or [{"channel": "telegram", "chat": "7"}],
        }
    ]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


async def test_a_task_posts_once_a_minute(open_site: Site, clock: ManualClock, ada: Person) -> None:
    open_site.config["tasks"] = minutely()
    async with hart_on(open_site, clock) as hart:
        assert await hart.scheduler.tick() == 0
        for count in range(1, 4):
            clock.move(MINUTE)
            assert await hart.scheduler.tick() == 1
            assert await hart.scheduler.tick() == 0
            assert await ada.hears(count) == ["answer to: tick"] * count


async def test_each_fire_has_a_thread_of_its_own(
    open_site: Site, clock: ManualClock, openai: OpenAIEmulator, ada: Person
) -> None:
    open_site.config["tasks"] = minutely()
    async with hart_on(open_site, clock) as hart:
        for count in (1, 2):
            clock.move(MINUTE)
            await hart.scheduler.tick()
            await ada.hears(count)
        ada.says("and now?")
        await ada.hears(3)
    roles = [[message["role"] for message in request.messages] for request in openai.accepted]
    assert roles == [["system", "user"]] * 3


async def test_a_task_runs_in_its_own_mode(
    sqlite_site: Site, clock: ManualClock, openai: OpenAIEmulator, ada: Person
) -> None:
    (task,) = minutely()
    sqlite_site.config["tasks"] = [{**task, "mode": "flash"}]
    async with hart_on(sqlite_site, clock) as hart:
        clock.move(MINUTE)
        await hart.scheduler.tick()
        await ada.hears(1)
    assert "Mode: flash." in str(openai.accepted[0].messages[-1])


async def test_a_restart_repeats_nothing_and_makes_up_for_missed_fires_with_one(
    open_site: Site, clock: ManualClock, ada: Person
) -> None:
    open_site.config["tasks"] = minutely()
    async with hart_on(open_site, clock) as hart:
        clock.move(MINUTE)
        await hart.scheduler.tick()
        await ada.hears(1)
    async with hart_on(open_site, clock) as hart:
        assert await hart.scheduler.tick() == 0
        clock.move(MINUTE)
        assert await hart.scheduler.tick() == 1
        await ada.hears(2)
    clock.move(5 * MINUTE)
    async with hart_on(open_site, clock) as hart:
        await ada.hears(3)
        assert await hart.scheduler.tick() == 0
        fires = sorted(await rows(hart, TaskRun), key=lambda fire: fire.scheduled_for)
    assert [fire.left_out for fire in fires] == [0, 0, 4]
    assert [sent.text for sent in ada.got()] == ["answer to: tick"] * 3


async def test_a_fire_that_was_stored_and_not_run_is_run_after_the_restart(
    open_site: Site, clock: ManualClock, openai: OpenAIEmulator, ada: Person
) -> None:
    open_site.config["tasks"] = minutely()
    asked = asyncio.Event()

    async def never(_request):
        asked.set()
        await asyncio.Event().wait()

    answering, openai.responder = openai.responder, never
    async with hart_on(open_site, clock) as hart:
        clock.move(MINUTE)
        await hart.scheduler.tick()
        await asked.wait()
    openai.responder = answering
    async with hart_on(open_site, clock):
        assert await ada.hears(1) == ["answer to: tick"]


async def test_two_nodes_fire_once(
    postgres_url: str,
    tmp_path: Path,
    clock: ManualClock,
    openai: OpenAIEmulator,
    telegram: TelegramEmulator,
    ada: Person,
) -> None:
    async with AsyncExitStack() as stack:
        nodes = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            site = Site(tmp_path / name, postgres_url, {"tasks": minutely()})
            site.use_openai(openai)
            site.use_telegram(telegram)
            nodes.append(await stack.enter_async_context(hart_on(site, clock)))
        for count in range(1, 6):
            clock.move(MINUTE)
            made = await asyncio.gather(*(node.scheduler.tick() for node in nodes))
            assert sum(made) == 1
            await ada.hears(count)
        assert len(await rows(nodes[0], TaskRun)) == 5
    assert len(ada.got()) == len(openai.requests) == 5


async def test_a_run_by_hand_fires_at_once_also_a_task_that_is_off(
    open_site: Site, clock: ManualClock, ada: Person
) -> None:
    open_site.config["tasks"] = minutely(enabled=False)
    async with hart_on(open_site, clock) as hart, http_to(hart) as http:
        clock.move(MINUTE)
        assert await hart.scheduler.tick() == 0
        fired = await http.post("/api/tasks/minutely/run")
        outcome = (await http.get(f"/api/tasks/fires/{fired.json()['key']}", params={"wait": 30})).json()
        (listed,) = (await http.get("/api/tasks")).json()
        unknown = await http.post("/api/tasks/nothing/run")
    assert fired.status_code == 202
    assert outcome["state"] == "done"
    assert [(one["chat"], one["state"], one["text"]) for one in outcome["deliveries"]] == [
        ("7", "sent", "answer to: tick")
    ]
    assert (listed["enabled"], listed["fired"], listed["next_fires"]) == (False, 1, [])
    assert unknown.status_code == 404
    assert [sent.text for sent in ada.got()] == ["answer to: tick"]


async def test_a_run_by_hand_leaves_the_schedule_as_it_is(
    open_site: Site, clock: ManualClock, ada: Person
) -> None:
    open_site.config["tasks"] = minutely()
    async with hart_on(open_site, clock) as hart, http_to(hart) as http:
        clock.move(MINUTE / 2)
        assert (await http.post("/api/tasks/minutely/run")).status_code == 202
        assert (await http.post("/api/tasks/minutely/run")).status_code == 202
        clock.move(MINUTE / 2)
        assert await hart.scheduler.tick() == 1
        await eventually(lambda: _no_delivery_open(hart))
        fires = len(await rows(hart, TaskRun))
    assert len(ada.got()) == fires


async def test_every_target_gets_the_result_and_one_that_fails_keeps_it_from_no_other(
    open_site: Site, clock: ManualClock, telegram: TelegramEmulator, ada: Person, bo: Person
) -> None:
    targets = [{"channel": "telegram", "chat": chat} for chat in ("404", "7", "8")]
    open_site.config["tasks"] = minutely(*targets, {"channel": "web", "chat": "main"})
    async with hart_on(open_site, clock) as hart:
        clock.move(MINUTE)
        await hart.scheduler.tick()
        await eventually(lambda: _no_delivery_open(hart))
        deliveries = {row.chat_id: row.state for row in await rows(hart, Delivery)}
        async with local_client(hart, "web") as client:
            (entry,) = (await client.history("main", 10)).entries
    assert deliveries == {"404": "failed", "7": "sent", "8": "sent", "main": "sent"}
    assert [person.got()[0].text for person in (ada, bo)] == ["answer to: tick"] * 2
    assert entry.text == "answer to: tick"


async def test_the_example_digest_posts_items_links_and_a_file_without_any_account(
    site: Site, clock: ManualClock, tmp_path: Path
) -> None:
    shutil.copytree(EXAMPLES, site.root / "examples")
    site.config["tasks"] = [
        {
            "name": "digest",
            "schedule": {"cron": "0 9 * * *"},
            "prompt": "Make a digest of these feeds:\nfile:examples/feeds/agents.xml\n"
            "file:examples/feeds/python.atom",
            "targets": [{"channel": "web", "chat": "main"}, {"channel": "console", "chat": "main"}],
        }
    ]
    async with hart_on(site, clock) as hart:
        clock.move(timedelta(hours=1))
        assert await hart.scheduler.tick() == 1
        await eventually(lambda: _no_delivery_open(hart))
        for channel in ("web", "console"):
            async with local_client(hart, channel) as client:
                text, file = (await client.history("main", 10)).entries
                saved = await client.download("main", file.files[0], tmp_path / channel)
                _check_digest(text, saved.read_text())
                await client.post("main", "thank you", "m1")
                await eventually(lambda client=client: _replied(client))


def _check_digest(entry: FeedEntry, document: str) -> None:
    assert entry.text.count("**") >= 4, "two feeds with a heading each"
    assert entry.text.count("](http") >= 4
    assert document.startswith("# Digest")
    assert document.count("\n## ") == 2
    assert document.count("](http") >= entry.text.count("](http")


async def _replied(client) -> bool:
    entries = (await client.history("main", 10)).entries
    return any(entry.in_reply_to == "m1" and "thank you" in entry.text for entry in entries)


async def _no_delivery_open(hart: Hart) -> bool:
    deliveries = await rows(hart, Delivery)
    fires = await rows(hart, TaskRun)
    runs = {delivery.run_id for delivery in deliveries}
    return len(runs) == len(fires) > 0 and all(row.state in ("sent", "failed") for row in deliveries)


def http_to(hart: Hart) -> httpx.AsyncClient:
    """A client of the local server, as ``hart tasks`` is one."""
    headers = {"Authorization": f"Bearer {hart.local_token}", "X-Hart": "1"}
    return httpx.AsyncClient(base_url=hart.url, headers=headers, trust_env=False, timeout=60)


async def test_a_node_without_the_schedule_fires_nothing(
    sqlite_site: Site, clock: ManualClock, ada: Person
) -> None:
    sqlite_site.config["tasks"] = minutely()
    async with hart_on(sqlite_site, clock):
        pass  # the task is known from now on
    clock.move(MINUTE)
    async with hart_on(sqlite_site, clock, Parts(schedule=False)) as hart:
        ada.says("hello")
        assert await ada.hears(1) == ["answer to: hello"]
        assert await rows(hart, TaskRun) == []
