"""How an occurrence of a task goes: failures, silence, overlap, time limits, and what people get of it."""

import asyncio
from datetime import timedelta
from functools import partial

import pytest

from bot.app import Hart
from bot.store import task_runs, tasks
from bot.store.tables import Delivery, Task, TaskRun
from bot.store.task_runs import Logged
from tests.clock import ManualClock
from tests.emulators.openai import Call, ChatRequest, Fault, OpenAIEmulator, Reply
from tests.emulators.telegram import TelegramEmulator, too_many
from tests.engine.ledger import eventually, rows
from tests.engine.people import Person
from tests.hart import Site, hart_on

HOUR = timedelta(hours=1)
REFUSED = Fault.of_status(400, "no")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def hourly(**rules: object) -> list[dict[str, object]]:
    """One task that is due at each hour."""
    return [
        {
            "name": "report",
            "schedule": {"cron": "0 * * * *"},
            "prompt": "tick",
            "targets": [{"channel": "telegram", "chat": "7"}],
            "progress": False,
            **rules,
        }
    ]


async def finished(hart: Hart, count: int) -> list[TaskRun]:
    """The occurrences, oldest first, once so many are and none is going on."""

    async def look() -> list[TaskRun]:
        found = await rows(hart, TaskRun)
        over = len(found) == count and all(run.state != "running" for run in found)
        return sorted(found, key=lambda run: run.scheduled_for) if over else []

    return await eventually(look)


async def logged(hart: Hart) -> list[Logged]:
    return await hart.database.run(partial(task_runs.latest, name="report", count=50))


async def test_a_failure_is_tried_again_by_the_ladder_and_told_after_the_second(
    open_site: Site, clock: ManualClock, openai: OpenAIEmulator, ada: Person
) -> None:
    open_site.config["tasks"] = hourly()
    openai.fail(REFUSED, REFUSED)
    async with hart_on(open_site, clock) as hart:
        clock.move(HOUR)
        await hart.scheduler.tick()
        (run,) = await finished(hart, 1)
        assert (run.state, run.tries, ada.got()) == ("waiting", 1, [])
        assert run.retry_at == clock() + timedelta(seconds=30)
        clock.move(timedelta(seconds=29))
        await hart.scheduler.tick()
        assert (await finished(hart, 1))[0].tries == 1
        clock.move(timedelta(seconds=1))
        await hart.scheduler.tick()
        (alert,) = await ada.hears(1)
        assert alert.startswith("The task report (report) has failed 2 times in a row")
        assert "I try again at Mon 2026-11-02 09:01" in alert
        (run,) = await finished(hart, 1)
        assert run.retry_at == clock() + timedelta(minutes=1)
        clock.move(timedelta(minutes=1))
        await hart.scheduler.tick()
        _, *words = await ada.hears(3)
        (run,) = await finished(hart, 1)
    assert sorted(words) == ["The task report (report) works again.", "answer to: tick"]
    assert (run.state, run.tries, run.note) == ("done", 3, None)


async def test_ten_failures_in_a_row_switch_a_task_off(
    sqlite_site: Site, clock: ManualClock, openai: OpenAIEmulator, ada: Person
) -> None:
    sqlite_site.config["tasks"] = hourly(retries=0)
    openai.fail(*[REFUSED] * 10)
    async with hart_on(sqlite_site, clock) as hart:
        for count in range(1, 11):
            clock.move(HOUR)
            await hart.scheduler.tick()
            assert [run.state for run in await finished(hart, count)] == ["failed"] * count
        clock.move(HOUR)
        assert await hart.scheduler.tick() == 0
        (task,) = await rows(hart, Task)
        words = await ada.hears(10)
    assert task.state == "disabled"
    assert "so I have switched it off" in words[-1]
    assert "has failed once" in words[0]


async def test_a_newer_occurrence_takes_the_place_of_a_try_that_waits(
    sqlite_site: Site, clock: ManualClock, openai: OpenAIEmulator, ada: Person
) -> None:
    sqlite_site.config["tasks"] = hourly(overlap="cancel_previous")
    openai.fail(REFUSED)
    async with hart_on(sqlite_site, clock) as hart:
        clock.move(HOUR)
        await hart.scheduler.tick()
        await finished(hart, 1)
        clock.move(HOUR)
        await hart.scheduler.tick()
        runs = await finished(hart, 2)
        assert await ada.hears(1) == ["answer to: tick"]
    assert [run.state for run in runs] == ["failed", "done"]


@pytest.mark.parametrize(
    ("answer", "suppressed", "heard"),
    [("[SILENT]", "silent", []), ("**[silent]**\nNothing new.", "silent", []), ("News!", None, ["News!"])],
)
async def test_a_quiet_task_posts_only_what_is_worth_telling(
    sqlite_site: Site,
    clock: ManualClock,
    openai: OpenAIEmulator,
    ada: Person,
    answer: str,
    suppressed: str | None,
    heard: list[str],
) -> None:
    sqlite_site.config["tasks"] = hourly(quiet=True, progress=True)
    openai.responder = lambda _request: Reply(answer)
    async with hart_on(sqlite_site, clock) as hart:
        clock.move(HOUR)
        await hart.scheduler.tick()
        (run,) = await finished(hart, 1)
        assert await ada.hears(len(heard)) == heard
        (entry,) = await logged(hart)
    assert (run.state, run.suppressed) == ("done", suppressed)
    assert entry.delivery == (suppressed or entry.delivery)
    assert "answer only [SILENT]" in str(openai.accepted[0].messages)


async def test_a_run_that_takes_too_long_is_ended_and_its_thread_stays_whole(
    sqlite_site: Site, clock: ManualClock, openai: OpenAIEmulator, ada: Person
) -> None:
    sqlite_site.config["tasks"] = hourly(timeout="1s", retries=0)
    openai.responder = _never
    async with hart_on(sqlite_site, clock) as hart:
        clock.move(HOUR)
        await hart.scheduler.tick()
        (alert,) = await ada.hears(1)
        (run,) = await finished(hart, 1)
    assert "it took longer than 1 second and was ended" in alert
    assert run.state == "failed"


@pytest.mark.parametrize(
    ("overlap", "states"),
    [
        ("skip", ["done", "skipped"]),
        ("queue", ["done", "done"]),
        ("cancel_previous", ["stopped", "done"]),
    ],
)
async def test_an_occurrence_while_a_run_goes_on_follows_the_policy(
    open_site: Site, clock: ManualClock, openai: OpenAIEmulator, ada: Person, overlap: str, states: list[str]
) -> None:
    open_site.config["tasks"] = hourly(overlap=overlap)
    answering, asked, go_on = openai.responder, asyncio.Event(), asyncio.Event()

    async def slowly(_request: ChatRequest) -> Reply:
        asked.set()
        await go_on.wait()
        return Reply("answer to: tick")

    openai.responder = slowly
    async with hart_on(open_site, clock) as hart:
        clock.move(HOUR)
        await hart.scheduler.tick()
        await asked.wait()
        openai.responder = answering
        clock.move(HOUR)
        await hart.scheduler.tick()
        if overlap == "cancel_previous":
            await finished(hart, 2)
        go_on.set()
        await ada.hears(1)
        if overlap == "queue":
            await finished(hart, 1)
            assert await hart.scheduler.tick() == 1
        runs = await finished(hart, 2)
        heard = await ada.hears(states.count("done"))
    assert [run.state for run in runs] == states
    assert heard == ["answer to: tick"] * states.count("done")


async def test_a_chat_that_is_down_delays_the_result_and_never_asks_the_model_again(
    open_site: Site, clock: ManualClock, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
) -> None:
    open_site.config["tasks"] = hourly()
    telegram.faults.add("sendMessage", too_many(3600))
    async with hart_on(open_site, clock) as hart:
        clock.move(HOUR)
        await hart.scheduler.tick()
        (run,) = await finished(hart, 1)
        (entry,) = await logged(hart)
        assert (run.state, entry.delivery) == ("done", "pending")
        await eventually(partial(_waits, hart))
        clock.move(timedelta(minutes=59))
        await hart.engine.sweep()
        assert (await logged(hart))[0].delivery == "pending"
        clock.move(timedelta(minutes=1))
        await hart.engine.sweep()
        assert await ada.hears(1) == ["answer to: tick"]
        await eventually(partial(_delivered, hart))
        (entry,) = await logged(hart)
    assert entry.delivery == "delivered"
    assert len(openai.accepted) == 1


async def test_the_owner_hears_of_a_chat_that_does_not_take_the_result_and_the_result_is_kept(
    open_site: Site, clock: ManualClock, ada: Person
) -> None:
    open_site.config["tasks"] = hourly(
        targets=[{"channel": "telegram", "chat": "404"}, {"channel": "web", "chat": "main"}],
        owner={"channel": "telegram", "chat": "7"},
    )
    async with hart_on(open_site, clock) as hart:
        clock.move(HOUR)
        await hart.scheduler.tick()
        (told,) = await ada.hears(1)
        await eventually(partial(_settled, hart))
        (entry,) = await logged(hart)
    assert told.startswith("The task report (report) has run, but its result did not get to telegram 404: ")
    assert entry.delivery == "partly"
    assert entry.work is not None
    assert entry.work.answer == "answer to: tick"


async def test_a_run_in_the_conversation_of_its_chat_knows_it_and_is_known_there(
    sqlite_site: Site, clock: ManualClock, openai: OpenAIEmulator, ada: Person
) -> None:
    sqlite_site.config["tasks"] = hourly(context="thread")
    async with hart_on(sqlite_site, clock) as hart:
        ada.says("my name is Ada")
        await ada.hears(1)
        clock.move(HOUR)
        await hart.scheduler.tick()
        await ada.hears(2)
        ada.says("who am I?")
        await ada.hears(3)
    said = [str(request.messages) for request in openai.accepted]
    assert "my name is Ada" in said[1]
    assert "tick" in said[2]


async def test_a_run_ends_when_the_budget_of_its_task_is_used_up(
    sqlite_site: Site, clock: ManualClock, openai: OpenAIEmulator, ada: Person
) -> None:
    sqlite_site.config["tasks"] = hourly(token_budget=1)

    def respond(request: ChatRequest) -> Reply:
        if "is used up" in str(request.messages):
            return Reply("so far")
        return Reply(calls=(Call("ls", {"path": "/mnt/user-data"}),))

    openai.responder = respond
    async with hart_on(sqlite_site, clock) as hart:
        clock.move(HOUR)
        await hart.scheduler.tick()
        (answer,) = await ada.hears(1)
        await finished(hart, 1)
    assert "so far" in answer
    assert len(openai.accepted) == 2


async def test_what_was_paused_in_a_chat_stays_paused_until_its_times_change(
    open_site: Site, clock: ManualClock
) -> None:
    open_site.config["tasks"] = hourly()
    async with hart_on(open_site, clock) as hart:
        await hart.database.run(partial(tasks.set_state, name="report", state="paused"))
    open_site.config["tasks"] = hourly(prompt="tock")
    clock.move(HOUR)
    async with hart_on(open_site, clock) as hart:
        assert await hart.scheduler.tick() == 0
        (task,) = await rows(hart, Task)
        assert "tock" in task.spec
    open_site.config["tasks"] = hourly(schedule={"cron": "30 * * * *"})
    async with hart_on(open_site, clock) as hart:
        (task,) = await rows(hart, Task)
    assert (task.state, task.first_seen_at) == ("active", clock())


async def test_a_task_that_is_no_longer_declared_fires_no_more_and_comes_back_without_a_flood(
    open_site: Site, clock: ManualClock
) -> None:
    open_site.config["tasks"] = hourly()
    async with hart_on(open_site, clock):
        pass
    open_site.config["tasks"] = []
    clock.move(5 * HOUR)
    async with hart_on(open_site, clock) as hart:
        assert await rows(hart, TaskRun) == []
    open_site.config["tasks"] = hourly()
    async with hart_on(open_site, clock) as hart:
        assert await hart.scheduler.tick() == 0
        (task,) = await rows(hart, Task)
    assert task.state == "active"


async def test_a_single_moment_fires_once_also_late_and_is_done(
    open_site: Site, clock: ManualClock, ada: Person
) -> None:
    open_site.config["tasks"] = hourly(schedule={"at": "2026-11-02 10:30"}, zone="Europe/Berlin")
    async with hart_on(open_site, clock):
        pass
    clock.move(timedelta(days=3))
    async with hart_on(open_site, clock) as hart:
        assert await ada.hears(1) == ["answer to: tick"]
        await finished(hart, 1)
        clock.move(timedelta(days=3))
        assert await hart.scheduler.tick() == 0
        (task,) = await rows(hart, Task)
    assert task.state == "done"


async def _never(_request: ChatRequest) -> Reply:
    await asyncio.Event().wait()
    raise AssertionError


async def _waits(hart: Hart) -> bool:
    return any(row.not_before is not None for row in await rows(hart, Delivery))


async def _delivered(hart: Hart) -> bool:
    return all(row.state == "sent" for row in await rows(hart, Delivery))


async def _settled(hart: Hart) -> bool:
    return all(row.state in ("sent", "failed") for row in await rows(hart, Delivery))
