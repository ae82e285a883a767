"""Heartbeats: the model is asked only when there is something to look after, and people hear only of news."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.app import Hart
from bot.store.tables import TaskRun
from tests.clock import ManualClock
from tests.emulators.openai import ChatRequest, OpenAIEmulator, Reply
from tests.engine.ledger import rows
from tests.engine.people import Person
from tests.engine.test_task_runs import finished
from tests.hart import Site, hart_on

HALF_HOUR = timedelta(minutes=30)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 11, 2, 6, 0, tzinfo=UTC))


async def a_day(hart: Hart, clock: ManualClock) -> list[TaskRun]:
    """Let a day pass, half an hour at a time."""
    for beat in range(1, 49):
        clock.move(HALF_HOUR)
        await hart.scheduler.tick()
        await finished(hart, beat)
    return await finished(hart, 48)


async def test_a_day_with_an_empty_list_asks_the_model_nothing(
    open_site: Site, openai: OpenAIEmulator, clock: ManualClock, ada: Person
) -> None:
    async with hart_on(open_site, clock) as hart:
        ada.says("/heartbeat on")
        assert "There is nothing on the list" in (await ada.hears(1))[0]
        ada.says("/heartbeat edit # Mine\n- [x] the old mail\n<!-- nothing -->")
        await ada.hears(2)
        runs = await a_day(hart, clock)
    assert {(run.state, run.note) for run in runs} == {("skipped", "nothing on the list")}
    assert openai.requests == []
    assert len(ada.got()) == 2


async def test_a_day_without_news_is_silent_and_outside_the_hours_nothing_is_asked(
    sqlite_site: Site, openai: OpenAIEmulator, clock: ManualClock, ada: Person
) -> None:
    openai.responder = lambda _request: Reply("**HEARTBEAT_OK** All quiet.")
    async with hart_on(sqlite_site, clock) as hart:
        for number, command in enumerate(
            (
                "/timezone Europe/Berlin",
                "/heartbeat on",
                "/heartbeat hours 22:00-06:00",
                "/heartbeat edit - mail",
            ),
            1,
        ):
            ada.says(command)
            shown = (await ada.hears(number))[-1]
        assert "every 30 minutes, from 22:00-06:00 (Europe/Berlin)" in shown
        runs = await a_day(hart, clock)
    done = [run for run in runs if run.state == "done"]
    assert len(done) == len(openai.accepted) == 16
    assert {run.suppressed for run in done} == {"silent"}
    assert {run.note for run in runs if run.state == "skipped"} == {"outside the active hours 22:00-06:00"}
    assert len(ada.got()) == 4


async def test_news_are_told_and_can_be_answered(
    sqlite_site: Site, openai: OpenAIEmulator, clock: ManualClock, ada: Person
) -> None:
    def respond(request: ChatRequest) -> Reply:
        return Reply(f"asked {len(request.messages) // 2} times")

    openai.responder = respond
    async with hart_on(sqlite_site, clock) as hart:
        ada.says("/heartbeat on")
        ada.says("/heartbeat edit - watch the build")
        await ada.hears(2)
        clock.move(HALF_HOUR)
        await hart.scheduler.tick()
        assert (await ada.hears(3))[-1] == "asked 1 times"
    asked = str(openai.accepted[0].messages[-1])
    assert "watch the build" in asked
    assert "answer only [SILENT]" in asked


async def test_a_busy_conversation_is_left_alone(
    sqlite_site: Site, openai: OpenAIEmulator, clock: ManualClock, ada: Person
) -> None:
    openai.responder = lambda _request: Reply("slow", delay=1)
    async with hart_on(sqlite_site, clock) as hart:
        ada.says("/heartbeat on")
        ada.says("/heartbeat edit - watch the build")
        await ada.hears(2)
        ada.says("hello")
        await openai.wait_for(lambda: bool(openai.requests))
        clock.move(HALF_HOUR)
        await hart.scheduler.tick()
        (run,) = await finished(hart, 1)
        await ada.hears(3)
        assert len(await rows(hart, TaskRun)) == 1
    assert (run.state, run.note) == ("skipped", "the conversation was busy")


async def test_the_list_goes_on_after_a_new_conversation_and_off_ends_it(
    sqlite_site: Site, openai: OpenAIEmulator, clock: ManualClock, ada: Person
) -> None:
    async with hart_on(sqlite_site, clock) as hart:
        for number, (command, said) in enumerate(
            [
                ("/heartbeat off", "There is no heartbeat here yet"),
                ("/heartbeat on", "every 30 minutes"),
                ("/heartbeat edit - watch the build", "watch the build"),
                ("/new", "Started a new conversation"),
                ("/heartbeat", "watch the build"),
                ("/heartbeat every 1s", "too often"),
                ("/heartbeat dance", "Use /heartbeat"),
                ("/heartbeat off", "is off"),
            ],
            1,
        ):
            ada.says(command)
            assert said in (await ada.hears(number))[-1], command
        clock.move(HALF_HOUR)
        assert await hart.scheduler.tick() == 0
    assert openai.requests == []
