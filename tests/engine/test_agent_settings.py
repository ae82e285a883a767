"""Settings of the agent, as people meet them."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agent_core.context import RunContext
from agent_core.middlewares.guardrail import Ruling
from bot.errors import OperatorError
from tests.clock import ManualClock
from tests.emulators.openai import Call, Fault, OpenAIEmulator, Reply
from tests.emulators.openai.wire import ChatRequest
from tests.engine.people import Person
from tests.hart import Site, hart_on

# In Tokyo it is 23:50.
LATE_IN_TOKYO = datetime(2026, 11, 2, 14, 50, tzinfo=UTC)


async def test_a_person_has_a_budget_for_the_day_in_all_their_conversations(
    open_site: Site, openai: OpenAIEmulator, ada: Person, bo: Person
) -> None:
    clock = ManualClock(LATE_IN_TOKYO)
    open_site.config["agent"] = {"zone": "Asia/Tokyo", "token_budget": {"user_day": 100}}
    async with hart_on(open_site, clock):
        ada.says("one")
        await ada.hears(1)
        ada.says("/new two")
        heard = await ada.hears(3)
        bo.says("hello")
        assert await bo.hears(1) == ["answer to: hello"]
        clock.move(timedelta(minutes=10))
        ada.says("three")
        assert (await ada.hears(4))[-1] == "answer to: three"
    assert any("budget of 100 tokens for your requests of one day" in text for text in heard)
    told = [str(request.messages[1]["content"]) for request in openai.accepted]
    assert ["Monday, 2026-11-02 (Asia/Tokyo)" in text for text in told[:2]] == [True, True]
    assert len(openai.accepted) == 3


async def test_a_fallback_answers_while_the_model_is_down(
    open_site: Site, openai: OpenAIEmulator, ada: Person
) -> None:
    open_site.config["agent"] = {"fallback_models": ["other-model"]}
    openai.responder = lambda request: Reply(f"this is {request.model}")
    async with hart_on(open_site):
        openai.fail(Fault.of_status(503))
        ada.says("hello")
        assert await ada.hears(1) == ["this is other-model"]


class NoFiles:
    """A guardrail that lets nobody on Telegram write files."""

    async def rule(self, tool: str, arguments: Mapping[str, Any], context: RunContext) -> Ruling:
        allowed = tool != "write_file" or not (context.user_id or "").startswith("telegram:main:")
        return Ruling(allowed=allowed, reason="no files from Telegram")


async def test_the_operators_guardrail_knows_who_asks(
    open_site: Site, openai: OpenAIEmulator, ada: Person
) -> None:
    def write(request: ChatRequest) -> Reply:
        results = request.tool_results()
        path = "/mnt/user-data/outputs/x"
        return (
            Reply(results[0])
            if results
            else Reply(calls=(Call("write_file", {"path": path, "content": "x"}),))
        )

    open_site.config["agent"] = {"guardrail": "tests.engine.test_agent_settings:NoFiles"}
    openai.responder = write
    async with hart_on(open_site):
        ada.says("write")
        (heard,) = await ada.hears(1)
    assert "was not called: no files from Telegram" in heard.replace("\\", "")


async def test_a_question_is_put_in_the_chat_and_the_next_message_answers_it(
    open_site: Site, openai: OpenAIEmulator, ada: Person
) -> None:
    ask = Call("ask_clarification", {"question": "Red or blue?"})
    openai.responder = lambda r: (
        Reply(calls=(ask,)) if "paint" in r.last_user_text else Reply(r.last_user_text)
    )
    async with hart_on(open_site):
        ada.says("paint it")
        assert await ada.hears(1) == ["Red or blue?"]
        ada.says("blue")
        assert (await ada.hears(2))[-1] == "blue"
    assert [m["role"] for m in openai.accepted[-1].messages][1:] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ("nowhere:Guard", "nowhere:Guard cannot be built: ModuleNotFoundError"),
        ("tests.clock:ManualClock", "tests.clock:ManualClock has no method `rule`"),
    ],
)
async def test_without_its_guardrail_hart_does_not_start(sqlite_site: Site, use: str, told: str) -> None:
    sqlite_site.config["agent"] = {"guardrail": use}
    with pytest.raises(OperatorError) as refused:
        async with hart_on(sqlite_site):
            pass
    assert told in str(refused.value)
