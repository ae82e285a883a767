"""What is off in a mode is off, and nothing that providers cache changes with it."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from agent_core.models.catalog import ModelCatalog
from agent_core.models.spec import ModelSpec
from agent_core.modes import Mode
from tests.agent_core.harness import CHAT_OPENAI, bench
from tests.emulators.openai import Call, OpenAIEmulator, Reply
from tests.emulators.openai.wire import ChatRequest

PLAN = Call("write_todos", {"todos": [{"content": "look", "status": "completed"}]}, "plan")
TASK = Call("task", {"description": "d", "prompt": "p", "subagent_type": "general-purpose"}, "task")


def plan_and_delegate(request: ChatRequest) -> Reply:
    """Call both, then give what came of them."""
    if "subagent" in str(request.messages[0]["content"])[:30]:
        return Reply("a report")
    results = request.tool_results()
    return Reply(" | ".join(results)) if results else Reply(calls=(PLAN, TASK))


@pytest.mark.parametrize("mode", Mode)
async def test_closed_tools_are_refused_with_words(tmp_path: Path, mode: Mode) -> None:
    async with OpenAIEmulator(plan_and_delegate) as emulator, bench(emulator, tmp_path) as b:
        end = await b.answer("r1", mode=mode)
        asked = len(emulator.requests)
    plan, task = end.answer.split(" | ")
    refused = f"was not called: it is closed in the mode {mode}. Do the work without it."
    assert (plan == f"write_todos {refused}") is (mode in (Mode.FLASH, Mode.STANDARD))
    assert (task == f"task {refused}") is (mode is not Mode.ULTRA)
    assert asked == (3 if mode is Mode.ULTRA else 2)


async def test_the_model_is_told_once_and_again_when_it_changes(tmp_path: Path) -> None:
    order = [Mode.ULTRA, Mode.FLASH, Mode.STANDARD, Mode.PRO, Mode.ULTRA, Mode.ULTRA]
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path) as b:
        for number, mode in enumerate(order):
            await b.answer(f"r{number}", f"say {number}", mode=mode)
        bodies = [request.json for request in emulator.requests]
    last = [_text(body["messages"][-1]) for body in bodies]
    assert ["Mode: " in text for text in last] == [False, True, False, True, True, False]
    assert "Mode: flash. Closed from here on, do without: write_todos, task." in last[1]
    assert "Mode: pro. Closed from here on, do without: task." in last[3]
    assert "Mode: ultra. No tool is closed any more." in last[4]
    for before, after in itertools.pairwise(bodies):
        assert after["messages"][: len(before["messages"])] == before["messages"]
        assert after["tools"] == before["tools"]


async def test_a_model_thinks_in_all_modes_but_flash(tmp_path: Path) -> None:
    def switched(emulator: OpenAIEmulator) -> ModelCatalog:
        given = {"model": "test-model", "base_url": emulator.base_url, "api_key": emulator.api_key}
        thinking: dict[str, Any] = {
            "thinking_on": {"reasoning_effort": "high"},
            "thinking_off": {"reasoning_effort": "minimal"},
        }
        able = ModelSpec("able", CHAT_OPENAI, given, supports_thinking=True, **thinking)
        return ModelCatalog([able, ModelSpec("plain", CHAT_OPENAI, given, **thinking)], None, 30)

    async with (
        OpenAIEmulator() as emulator,
        bench(emulator, tmp_path, models=switched(emulator)) as b,
    ):
        for mode in Mode:
            await b.answer(f"r-{mode}", model="able", thread=mode, mode=mode)
        await b.answer("r-plain", model="plain")
        efforts = [request.json.get("reasoning_effort") for request in emulator.requests]
    assert efforts == ["minimal", "high", "high", "high", None]


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)
