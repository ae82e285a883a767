"""Subagents from a chat's side: stopped, counted, and their files delivered."""

import time

import pytest

from bot.store.tables import Run
from tests.emulators.openai import Fault, OpenAIEmulator, Reply
from tests.emulators.openai.wire import ChatRequest
from tests.emulators.telegram import TelegramEmulator
from tests.engine.ledger import rows
from tests.engine.people import PATIENCE, Person
from tests.engine.test_stopping import AT_ONCE
from tests.hart import Site, hart_on
from tests.subagents.script import asked_by_subagents, delegating, report, task, tokens_of
from tests.subagents.test_subagents import writing

THREE = (task("tea"), task("coffee"), task("cocoa"))


@pytest.fixture
def ada(telegram: TelegramEmulator) -> Person:
    """Somebody with a private chat."""
    return Person.new(telegram, 7, "Ada")


@pytest.fixture
def open_site(site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator) -> Site:
    """A place where Hart answers everybody on Telegram."""
    site.use_openai(openai)
    site.use_telegram(telegram)
    site.config["limits"] = {"model_retries": 0, "drain_seconds": 0}
    return site


async def test_stop_ends_every_subagent_at_once(open_site: Site, openai: OpenAIEmulator, ada: Person) -> None:
    respond = delegating(report, THREE)

    def hanging(request: ChatRequest) -> Reply:
        # The lead agent is answered; the three who come next are not.
        openai.fail(*[Fault.hang()] * 3)
        reply = respond(request)
        assert isinstance(reply, Reply)
        return reply

    openai.responder = hanging
    async with hart_on(open_site) as hart:
        ada.says("compare them")
        await openai.wait_for(lambda: len(asked_by_subagents(openai.requests)) == 3, timeout=PATIENCE)
        openai.responder = lambda request: Reply(f"answer to: {request.last_user_text}")
        asked = time.monotonic()
        ada.says("/stop")
        await openai.wait_for(lambda: openai.disconnects == 3, timeout=PATIENCE)
        took = time.monotonic() - asked
        assert set(await ada.hears(2)) == {"Stopping.", "Stopped."}
        ada.says("go on")
        assert (await ada.hears(3))[-1] == "answer to: go on"
        states = [run.state for run in sorted(await rows(hart, Run), key=lambda run: run.inbound_id)]
    assert took < AT_ONCE
    assert states == ["stopped", "done"]
    assert len(openai.requests) == 5


async def test_what_subagents_make_and_use_reaches_the_chat_and_the_ledger(
    open_site: Site, openai: OpenAIEmulator, ada: Person
) -> None:
    openai.responder = delegating(writing, [task("tea")])
    async with hart_on(open_site) as hart:
        ada.says("write about tea")
        await ada.hears(2)
        (run,) = await rows(hart, Run)
    answer, file = ada.got()
    assert "wrote" in answer.text
    assert file.document is not None
    assert run.input_tokens == tokens_of(openai.requests)
