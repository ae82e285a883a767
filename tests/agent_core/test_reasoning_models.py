"""Models that think before they speak: what they thought is kept, and given back as their vendor wants it."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from agent_core.events import ReasoningDelta
from agent_core.models.catalog import ModelCatalog
from agent_core.models.prices import Prices
from agent_core.models.spec import ModelSpec
from agent_core.models.thoughts import reasoning_of
from agent_core.summary import SummaryLimits
from tests.agent_core.harness import bench, chain_settings
from tests.emulators.openai import Call, OpenAIEmulator, Reply
from tests.emulators.openai.wire import ChatRequest

REASONING_CHAT = "agent_core.models.reasoning:ReasoningChatOpenAI"
THOUGHT = "First I look, then I answer."


def models(emulator: OpenAIEmulator, use: str = REASONING_CHAT, **arguments: Any) -> ModelCatalog:
    given = {"model": "test-model", "base_url": emulator.base_url, "api_key": emulator.api_key, **arguments}
    return ModelCatalog([ModelSpec("test-model", use, given)], None, 30)


def shown(emulator: OpenAIEmulator) -> ModelCatalog:
    given = {"model": "test-model", "base_url": emulator.base_url, "api_key": emulator.api_key}
    return ModelCatalog([ModelSpec("test-model", REASONING_CHAT, given, show_reasoning=True)], None, 30)


def thinking(request: ChatRequest) -> Reply:
    if not request.tool_results():
        return Reply(calls=(Call("ls", {"path": "/mnt/user-data/workspace"}),), reasoning=THOUGHT)
    return Reply("done", reasoning="It is empty.")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize("streaming", [True, False])
async def test_what_the_model_thought_is_kept_with_its_message(field: str, streaming: bool) -> None:
    reply = Reply("hello", reasoning=THOUGHT, reasoning_field=field)
    async with OpenAIEmulator(lambda _: reply) as emulator:
        model = models(emulator, streaming=streaming).get("test-model")
        answer = await model.ainvoke([HumanMessage("hi")])
    assert answer.text == "hello"
    assert reasoning_of(answer) == THOUGHT
    assert answer.response_metadata["finish_reason"] == "stop"


async def test_a_vendor_that_wants_the_thoughts_back_with_the_calls_gets_them_in_every_turn(
    tmp_path: Path, store_url: str | None
) -> None:
    async with (
        OpenAIEmulator(thinking, reasoning="required") as emulator,
        bench(emulator, tmp_path, store_url, models=models(emulator)) as b,
    ):
        ends = [await b.answer(f"run-{turn}") for turn in range(2)]
    assert [end.answer for end in ends] == ["done", "done"]
    last = emulator.accepted[-1].messages
    assert [m.get("reasoning_content") for m in last if m["role"] == "assistant"] == [THOUGHT, None, THOUGHT]
    for before, after in zip(emulator.accepted, emulator.accepted[1:], strict=False):
        assert after.messages[: len(before.messages)] == before.messages


async def test_that_vendor_also_takes_calls_that_another_model_made(tmp_path: Path) -> None:
    async with OpenAIEmulator(thinking, models=("plain", "thinker")) as emulator:
        given = {"base_url": emulator.base_url, "api_key": emulator.api_key}
        both = ModelCatalog(
            [
                ModelSpec("plain", "langchain_openai:ChatOpenAI", {"model": "plain", **given}),
                ModelSpec("thinker", REASONING_CHAT, {"model": "thinker", **given}),
            ],
            None,
            30,
        )
        async with bench(emulator, tmp_path, models=both) as b:
            await b.answer("run-0", model="plain")
            emulator.reasoning = "required"
            end = await b.answer("run-1", model="thinker")
    assert end.answer == "done"


async def test_a_vendor_that_refuses_thoughts_gets_none(tmp_path: Path) -> None:
    async with (
        OpenAIEmulator(thinking, reasoning="refused") as emulator,
        bench(emulator, tmp_path, models=models(emulator, reasoning_replay="never")) as b,
    ):
        ends = [await b.answer(f"run-{turn}") for turn in range(2)]
    assert [end.answer for end in ends] == ["done", "done"]


async def test_all_thoughts_are_given_back_where_that_is_set(tmp_path: Path) -> None:
    async with (
        OpenAIEmulator(thinking) as emulator,
        bench(emulator, tmp_path, models=models(emulator, reasoning_replay="always")) as b,
    ):
        for turn in range(2):
            await b.answer(f"run-{turn}")
    last = emulator.accepted[-1].messages
    given = [m.get("reasoning_content") for m in last if m["role"] == "assistant"]
    assert given == [THOUGHT, "It is empty.", THOUGHT]


@pytest.mark.parametrize("style", ["openai", "deepseek", "kimi"])
@pytest.mark.parametrize("streaming", [True, False])
async def test_cached_tokens_are_counted_in_every_style(style: Any, streaming: bool) -> None:
    async with OpenAIEmulator(lambda _: Reply("ok", usage_style=style)) as emulator:
        model = models(emulator, streaming=streaming).get("test-model")
        first = HumanMessage("x" * 4_000)
        await model.ainvoke([first])
        answer = await model.ainvoke([first, AIMessage("ok"), HumanMessage("more")])
    assert answer.response_metadata["finish_reason"] == "stop"
    usage = answer.usage_metadata
    assert usage is not None
    assert usage["input_tokens"] > 1_000
    assert 900 < usage["input_token_details"]["cache_read"] < usage["input_tokens"]


async def test_the_limit_of_the_answer_goes_by_the_name_that_every_vendor_knows() -> None:
    async with OpenAIEmulator(lambda _: Reply("ok")) as emulator:
        await models(emulator, max_tokens=77).get("test-model").ainvoke([HumanMessage("hi")])
    sent = emulator.accepted[0].json
    assert sent["max_tokens"] == 77
    assert "max_completion_tokens" not in sent


async def test_what_it_thinks_is_told_where_that_is_set_and_else_not(tmp_path: Path) -> None:
    async with OpenAIEmulator(thinking) as emulator:
        async with bench(emulator, tmp_path / "a", models=models(emulator)) as b:
            hidden = await b.run("run-1")
        async with bench(emulator, tmp_path / "b", models=shown(emulator)) as b:
            told = await b.run("run-1")
    assert not [event for event in hidden if isinstance(event, ReasoningDelta)]
    thoughts: dict[str, str] = {}
    for event in told:
        if isinstance(event, ReasoningDelta):
            thoughts[event.message_id] = thoughts.get(event.message_id, "") + event.text
    assert list(thoughts.values()) == [THOUGHT, "It is empty."]


async def test_what_a_run_cost_is_counted_with_cached_tokens_cheaper(tmp_path: Path) -> None:
    prices = Prices(input=2.0, output=10.0, cached_input=0.5)
    async with OpenAIEmulator(thinking) as emulator:
        given = {"model": "test-model", "base_url": emulator.base_url, "api_key": emulator.api_key}
        spec = ModelSpec("test-model", REASONING_CHAT, given, prices=prices)
        async with bench(emulator, tmp_path, models=ModelCatalog([spec], None, 30)) as b:
            used = (await b.answer("run-1")).usage
            again = (await b.answer("run-1")).usage
    assert used.cached_tokens > 0
    fresh = used.input_tokens - used.cached_tokens
    expected = (fresh * 2.0 + used.cached_tokens * 0.5 + used.output_tokens * 10.0) / 1_000_000
    assert used.cost == pytest.approx(expected)
    assert again.cost == used.cost


async def test_a_summary_costs_too(tmp_path: Path) -> None:
    def respond(request: ChatRequest) -> Reply:
        return Reply("a summary" if len(request.messages) == 2 else "an answer")

    async with OpenAIEmulator(respond) as emulator:
        given = {"model": "test-model", "base_url": emulator.base_url, "api_key": emulator.api_key}
        spec = ModelSpec("test-model", REASONING_CHAT, given, prices=Prices(input=1.0, output=0.0))
        catalog = ModelCatalog([spec], None, 30)
        limits = chain_settings(summary=SummaryLimits(6, 100_000, 2, 50_000))
        async with bench(emulator, tmp_path, models=catalog, settings=limits) as b:
            used = [(await b.answer(f"run-{turn}")).usage for turn in range(4)]
    assert len(emulator.accepted) == 5
    for usage in used:
        assert usage.cost == pytest.approx(usage.input_tokens / 1_000_000)
    assert used[3].input_tokens > used[2].input_tokens


async def test_without_prices_nobody_claims_to_know_the_cost(tmp_path: Path) -> None:
    async with (
        OpenAIEmulator(thinking) as emulator,
        bench(emulator, tmp_path, models=models(emulator)) as b,
    ):
        assert (await b.answer("run-1")).usage.cost is None
