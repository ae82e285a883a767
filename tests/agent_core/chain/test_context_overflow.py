"""A conversation that no longer fits goes on with less of it."""

from pathlib import Path

import pytest

from agent_core.events import RunStatus
from agent_core.models.errors import ModelFault
from agent_core.models.faults import CutStreamError, classify
from agent_core.summary import SummaryLimits
from tests.agent_core.harness import bench, chain_settings
from tests.emulators.openai import Call, Fault, OpenAIEmulator, Reply
from tests.emulators.openai.wire import ChatRequest

TOO_LONG = Fault.of_status(400, "This model's maximum context length is 4096 tokens")


class BadRequestError(Exception):
    """What an SDK raises that LangChain does not know."""

    status_code = 400


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens",
        "prompt is too long: 200001 tokens > 200000 maximum",
        "Input is too long for requested model.",
        "The input token count (1056000) exceeds the maximum number of tokens allowed (1048576).",
        "Please reduce the length of the messages or completion.",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
        "too many tokens: size limit exceeded",
        "`inputs` tokens + `max_new_tokens` must be <= 8193",
        "the request exceeds the available context size. try increasing the context size",
        "Range of input length should be [1, 30720]",
        "Invalid request: Your request exceeded model token limit: 131072",
        "invalid params, context window exceeds limit",
        "Total tokens of image and text exceed max message tokens",
        "Prompt 超长",
        "输入的内容过长,请缩短后重试",
        "请求的token数量超过上限",
        "tokens 数量超过模型最大限制",
        "对话内容超出模型上下文长度",
        "输入长度超过最大长度限制",
    ],
)
def test_every_vendors_words_for_too_long_are_known(said: str) -> None:
    verdict = classify(BadRequestError(said))
    assert verdict is not None
    assert verdict.fault is ModelFault.TOO_LONG


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("Invalid value for 'temperature': exceeds 2", ModelFault.INVALID),
        ("请求参数错误", ModelFault.INVALID),
        ("tool name is too long", ModelFault.INVALID),
        ("账户余额不足", ModelFault.QUOTA),
        ("Access denied, Arrearage", ModelFault.QUOTA),
    ],
)
def test_other_refusals_are_not_taken_for_it(said: str, fault: ModelFault) -> None:
    verdict = classify(BadRequestError(said))
    assert verdict is not None
    assert verdict.fault is fault
    assert classify(CutStreamError("x")) is not None


def long_reader(request: ChatRequest) -> Reply:
    """Read a file first in each turn, then answer at length."""
    if not request.tool_results():
        return Reply(
            calls=(Call("write_file", {"path": "/mnt/user-data/workspace/n", "content": "x" * 300}),)
        )
    return Reply(f"answer to: {request.last_user_text} " + "long " * 50)


async def test_the_older_half_goes_and_stays_away(tmp_path: Path, store_url: str | None) -> None:
    async with OpenAIEmulator(long_reader) as emulator, bench(emulator, tmp_path, store_url) as b:
        for number in range(6):
            await b.answer(f"r{number}", f"question {number}")
        emulator.fail(TOO_LONG)
        end = await b.answer("r6", "question 6")
        whole, shorter = emulator.requests[-3], emulator.requests[-2]
        later = await b.answer("r7", "question 7")
        kept = [said.text for said in await b.runtime.history("thread") if said.role == "person"]
    assert end.answer.startswith("answer to: question 6")
    assert later.status is RunStatus.DONE
    assert len(str(shorter.messages[1:])) < len(str(whole.messages[1:])) * 0.7
    assert "older part was taken out" in shorter.messages[-1]["content"]
    assert kept == [f"question {number}" for number in (4, 5, 6, 7)]
    first, after = str(shorter.messages[1:-1])[:-1], str(emulator.requests[-1].messages[1:])
    assert after.startswith(first), "what was sent then is what is sent later"
    assert [r.status for r in emulator.requests].count(400) == 1


async def test_if_half_is_still_too_much_only_the_turn_itself_is_kept(tmp_path: Path) -> None:
    async with OpenAIEmulator(long_reader) as emulator, bench(emulator, tmp_path) as b:
        for number in range(4):
            await b.answer(f"r{number}", f"question {number}")
        emulator.fail(TOO_LONG, TOO_LONG)
        end = await b.answer("r4", "question 4")
        kept = [said.text for said in await b.runtime.history("thread") if said.role == "person"]
    assert end.answer.startswith("answer to: question 4")
    assert kept == ["question 4"]


async def test_large_results_within_one_turn_go_too(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path) as b:
        for name in range(4):
            b.files().write(f"/mnt/user-data/workspace/{name}", str(name).encode() * 5_000)

        def too_long_at_the_end(request: ChatRequest) -> Reply:
            done = len(request.tool_results())
            if done == 3:
                emulator.fail(TOO_LONG)
            if done < 4:
                return Reply(calls=(Call("read_file", {"path": f"/mnt/user-data/workspace/{done}"}),))
            return Reply("done")

        emulator.responder = too_long_at_the_end
        end = await b.answer("r1")
    sent = [str(m["content"])[:2] for m in emulator.requests[-1].messages if m["role"] == "tool"]
    assert end.answer == "done"
    assert sent == ["(T", "(T", "22", "33"], "all but the two newest results"


async def test_what_a_summary_stands_for_already_does_not_count_as_taken_out(tmp_path: Path) -> None:
    limits = SummaryLimits(messages=8, tokens=100_000, keep_messages=5, keep_tokens=90_000)

    def chatting(request: ChatRequest) -> Reply:
        if "You sum up" in str(request.messages[0]["content"]):
            emulator.fail(TOO_LONG)
            return Reply("The summary.")
        number = int(request.last_user_text.rpartition(" ")[2])
        return Reply(f"answer {number} " + "long " * (900 if number < 2 else 300))

    settings = chain_settings(summary=limits)
    async with OpenAIEmulator(chatting) as emulator, bench(emulator, tmp_path, settings=settings) as b:
        for number in range(5):
            end = await b.answer(f"r{number}", f"question {number}")
    refused, shorter = emulator.requests[-2:]
    assert end.answer.startswith("answer 4")
    assert (refused.status, shorter.status) == (400, 200)
    assert "The summary." in str(refused.messages)
    assert len(shorter.body) < len(refused.body) - 1_000


async def test_a_message_too_long_by_itself_is_told_and_the_thread_goes_on(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path) as b:
        emulator.fail(TOO_LONG)
        end = await b.answer("r1", "x" * 1_000)
        later = await b.answer("r2", "short")
    assert end.status is RunStatus.FAILED
    assert "too long" in end.answer
    assert later.answer == "answer to: short"
