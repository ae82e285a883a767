"""Models that think before they speak: what they thought is kept, and given back as their vendor wants it."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from agent_core.models.catalog import ModelCatalog
from agent_core.models.spec import ModelSpec
from agent_core.models.thoughts import reasoning_of
from tests.agent_core.harness import bench
from tests.emulators.openai import Call, OpenAIEmulator, Reply
from tests.emulators.openai.wire import ChatRequest

REASONING_CHAT = "agent_core.models.reasoning:ReasoningChatOpenAI"
THOUGHT = "First I look, then I answer."


def models(emulator: OpenAIEmulator, use: str = REASONING_CHAT, **arguments: Any) -> ModelCatalog:
    given = {"model": "test-model", "base_url": emulator.base_url, "api_key": emulator.api_key, **arguments}
    return ModelCatalog([ModelSpec("test-model", use, given)], None, 30)


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
