"""Runs that go wrong: people are told, the rest goes on, nothing is tried for ever."""

import re
from datetime import timedelta

import pytest

from bot.app import Hart
from bot.store.tables import Run
from tests.clock import ManualClock
from tests.emulators.openai import Fault, OpenAIEmulator
from tests.engine.ledger import eventually, rows
from tests.engine.people import Person
from tests.hart import Site, hart_on

RETRY_SECONDS = (1, 5, 15, 60)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault.of_status(401, "Incorrect API key provided."), "The model test-model refused our API key. "),
        (Fault.of_status(500), "The model test-model keeps failing. "),
        (Fault.of_status(429, "slow down"), "The model test-model is taking no more requests "),
        (Fault.cut_hard(), "I cannot reach the model test-model. "),
    ],
    ids=["bad key", "server error", "too many requests", "cut stream"],
)
async def test_a_model_that_fails_for_good_is_told_with_a_reference(
    sqlite_site: Site, openai: OpenAIEmulator, ada: Person, fault: Fault, words: str
) -> None:
    openai.fail(fault)
    async with hart_on(sqlite_site) as hart:
        ada.says("hello")
        (told,) = await ada.hears(1)
        ada.says("again")
        after = (await ada.hears(2))[-1]
        failed, done = sorted(await rows(hart, Run), key=lambda run: run.inbound_id)
    assert told.startswith(words)
    reference = re.search(r"\(Reference ([0-9a-f]{8})\)$", told)
    assert reference is not None
    assert failed.id.startswith(reference[1])
    assert (failed.state, failed.attempts) == ("failed", 1)
    assert openai.api_key not in str(failed.error)
    assert (done.state, after) == ("done", "answer to: again")


async def test_a_model_that_cannot_be_reached_is_told_and_comes_back(
    open_site: Site, openai: OpenAIEmulator, ada: Person
) -> None:
    models = open_site.config["models"]
    assert isinstance(models, list)
    models[0]["base_url"] = "http://127.0.0.1:9/v1"
    async with hart_on(open_site):
        ada.says("hello")
        (told,) = await ada.hears(1)
    assert told.startswith("I cannot reach the model test-model. ")
    assert "127.0.0.1" not in told
    models[0]["base_url"] = openai.base_url
    async with hart_on(open_site):
        ada.says("again")
        assert (await ada.hears(2))[-1] == "answer to: again"


class TestABugInOurOwnCode:
    @pytest.fixture
    def broken_site(self, open_site: Site) -> Site:
        open_site.config["models"] = [{"name": "broken", "use": "tests.engine.broken_model:BrokenModel"}]
        return open_site

    async def test_is_tried_five_times_at_growing_distance_and_then_set_aside(
        self, broken_site: Site, ada: Person
    ) -> None:
        clock = ManualClock()
        async with hart_on(broken_site, clock) as hart:
            ada.says("try this")
            for attempt, seconds in enumerate(RETRY_SECONDS, 1):
                run = await eventually(lambda attempt=attempt: _failed_attempt(hart, attempt, clock))
                assert run.not_before == clock() + timedelta(seconds=seconds)
                assert run.error == "ZeroDivisionError: a bug"
                clock.move(timedelta(seconds=seconds))
                await hart.engine.sweep()
            (told,) = await ada.hears(1)
            (run,) = await rows(hart, Run)
            ada.says("hello")
            after = (await ada.hears(2))[-1]
        assert (run.state, run.attempts) == ("set_aside", 5)
        assert told.startswith("I could not get this done: I tried 5 times ")
        assert f"(reference {run.id[:8]})" in told
        assert "ZeroDivision" not in told
        assert after.startswith("I read: “hello”")

    async def test_is_not_tried_before_its_time_and_holds_up_its_own_thread_alone(
        self, broken_site: Site, ada: Person, bo: Person
    ) -> None:
        clock = ManualClock()
        async with hart_on(broken_site, clock) as hart:
            ada.says("try this")
            await eventually(lambda: _failed_attempt(hart, 1, clock))
            ada.says("hello")
            clock.move(timedelta(milliseconds=999))
            await hart.engine.sweep()
            bo.says("hello")
            await bo.hears(1)
            assert ada.got() == []  # neither tried again, nor overtaken by the message behind it
            assert await _failed_attempt(hart, 1, clock)

    async def test_attempts_are_remembered_over_a_restart(self, broken_site: Site, ada: Person) -> None:
        clock = ManualClock()
        for attempt, seconds in enumerate((*RETRY_SECONDS, 0), 1):
            async with hart_on(broken_site, clock) as hart:
                if attempt == 1:
                    ada.says("try this")
                if attempt == 5:
                    (told,) = await ada.hears(1)
                    break
                await eventually(lambda hart=hart, attempt=attempt: _failed_attempt(hart, attempt, clock))
                clock.move(timedelta(seconds=seconds))
        assert told.startswith("I could not get this done: I tried 5 times ")


async def _failed_attempt(hart: Hart, number: int, clock: ManualClock) -> Run | None:
    """The run whose attempt of that number has failed; it waits, so its time is yet to come."""
    for run in await rows(hart, Run):
        if run.attempts == number and run.not_before is not None and run.not_before > clock():
            return run
    return None
