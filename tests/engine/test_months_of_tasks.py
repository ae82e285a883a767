"""Tasks over weeks and restarts: each occurrence once, at its time, wherever nodes come and go."""

import random
from contextlib import AsyncExitStack
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.app import Hart
from bot.store.tables import Delivery, TaskRun
from tests.clock import ManualClock
from tests.emulators.openai import Call, ChatRequest, OpenAIEmulator, Reply
from tests.emulators.telegram import TelegramEmulator
from tests.engine.ledger import eventually, rows
from tests.hart import Site, hart_on
from tests.platforms import Platform

NEW_YORK = ZoneInfo("America/New_York")
FIRES = 200
MINUTE = timedelta(minutes=1)


def _with_file(request: ChatRequest) -> Reply:
    done = len(request.tool_results())
    path = "/mnt/user-data/outputs/digest.md"
    calls = (
        Call("write_file", {"path": path, "content": "# Digest"}),
        Call("present_files", {"paths": [path]}),
    )
    return Reply(calls=(calls[done],)) if done < 2 else Reply("the digest")


async def test_a_month_of_weekdays_at_eight_in_new_york_over_the_end_of_summer_time(
    platform: Platform, tmp_path: Path, openai: OpenAIEmulator
) -> None:
    openai.responder = _with_file
    site = Site(tmp_path)
    site.use_openai(openai)
    platform.use(site)
    place = platform.group("Team")
    site.config["tasks"] = [
        {
            "name": "digest",
            "schedule": {"cron": "0 8 * * 1-5"},
            "zone": "America/New_York",
            "prompt": "the digest",
            "progress": False,
            "targets": [{"channel": platform.name, "chat": place.chat}],
        }
    ]
    clock = ManualClock(datetime(2026, 10, 12, tzinfo=UTC))
    days = [date(2026, 10, 12) + timedelta(days=day) for day in range(35)]
    weekdays = 0
    async with hart_on(site, clock) as hart:
        await platform.wait_until_listening()
        for day in days:
            eight = datetime.combine(day, time(8), NEW_YORK).astimezone(UTC)
            clock.move(eight - MINUTE - clock())
            assert await hart.scheduler.tick() == 0
            clock.move(MINUTE)
            made = await hart.scheduler.tick()
            assert made == (day.weekday() < 5), day
            weekdays += made
            await eventually(partial(_all_sent, hart, 2 * weekdays))
        deliveries = await rows(hart, Delivery)
    assert weekdays == 25
    assert [one.file_name for one in deliveries] == [None, "digest.md"] * weekdays
    assert {(one.state, one.attempts) for one in deliveries} == {("sent", 1)}


@pytest.mark.parametrize("nodes", [1, pytest.param(2, marks=pytest.mark.postgres)])
async def test_two_hundred_fires_with_nodes_that_come_and_go_make_two_hundred_runs(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    openai: OpenAIEmulator,
    telegram: TelegramEmulator,
    nodes: int,
) -> None:
    url = request.getfixturevalue("postgres_url") if nodes == 2 else None
    sites = []
    for number in range(nodes):
        root = tmp_path / str(number)
        root.mkdir()
        site = Site(root, url)
        site.use_openai(openai)
        site.use_telegram(telegram)
        site.config["limits"] = {"drain_seconds": 0}
        site.config["tasks"] = [
            {
                "name": "minutely",
                "schedule": {"cron": "* * * * *"},
                "prompt": "tick",
                "progress": False,
                "overlap": "queue",
                "targets": [{"channel": "telegram", "chat": "7"}],
            }
        ]
        sites.append(site)
    telegram.private_chat(telegram.user(7, "Ada"))
    clock, dice, fired = ManualClock(), random.Random(5), 0
    while fired < FIRES:
        async with AsyncExitStack() as stack:
            up = [await stack.enter_async_context(hart_on(site, clock)) for site in sites]
            for _ in range(dice.randint(10, 40)):
                if fired == FIRES:
                    break
                clock.move(MINUTE)
                # Each node looks; the one that comes first makes the run, whichever works on it.
                made = [await node.scheduler.tick() for node in dice.sample(up, len(up))]
                assert sum(made) <= 1
                fired += 1
                if dice.random() < 0.9:
                    await eventually(partial(_none_going_on, up[0]))
    async with hart_on(sites[0], clock) as hart:
        await hart.scheduler.tick()
        await eventually(partial(_none_going_on, hart))
        runs = sorted(await rows(hart, TaskRun), key=lambda run: run.scheduled_for)
        await eventually(partial(_all_sent, hart, len(runs)))
    assert {run.state for run in runs} == {"done"}
    assert sum(1 + run.left_out for run in runs) == FIRES
    assert len({run.scheduled_for for run in runs}) == len(runs) == len(telegram.sent)


async def _all_sent(hart: Hart, count: int) -> bool:
    found = await rows(hart, Delivery)
    return len(found) == count and all(one.state == "sent" for one in found)


async def _none_going_on(hart: Hart) -> bool:
    return all(run.state == "done" for run in await rows(hart, TaskRun))
