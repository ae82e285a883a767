"""Whatever goes wrong with a run, it ends in an answer that helps, and the thread goes on."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agent_core.events import RunEnded, RunStatus
from agent_core.middlewares.loop_detection import LoopLimits
from agent_core.middlewares.token_budget import TokenLimits
from agent_core.models.catalog import ModelCatalog
from tests.agent_core.harness import Bench, bench, chain_settings, spec
from tests.clock import ManualClock
from tests.emulators.openai import Call, Fault, OpenAIEmulator, Reply, Responder, sequence
from tests.emulators.openai.wire import ChatRequest

READ = Call("read_file", {"path": "/mnt/user-data/outputs/x"})


@asynccontextmanager
async def talking(
    responder: Responder, tmp_path: Path, **options: Any
) -> AsyncIterator[tuple[OpenAIEmulator, Bench]]:
    """Prove, after the block, that the thread takes the next message and that what is sent then is sound."""
    async with OpenAIEmulator(responder) as emulator, bench(emulator, tmp_path, **options) as b:
        yield emulator, b
        emulator.responder = lambda request: Reply(f"answer to: {request.last_user_text}")
        later = await b.answer("later", "and now?")
        assert (later.status, later.answer) == (RunStatus.DONE, "answer to: and now?")
        assert emulator.requests[-1].status == 200


def looping(request: ChatRequest) -> Reply:
    if request.tool_choice == "none":
        return Reply("This is how far I came.")
    return Reply("Again.", calls=(READ,))


async def test_a_run_that_repeats_a_call_is_warned_at_three_and_ended_at_five(tmp_path: Path) -> None:
    async with talking(looping, tmp_path) as (emulator, b):
        end = await b.answer("r1")
        requests = emulator.requests
        assert end.answer == "This is how far I came."
        warned = ["made the same tool calls 3 times" in str(r.messages) for r in requests]
        # Four calls are made; the fifth answer is thrown away, and one more asked for.
        assert warned == [False] * 3 + [True] * 3
        assert [r.json.get("tool_choice") for r in requests] == [None] * 5 + ["none"]
        assert sum(m["role"] == "tool" for m in requests[-1].messages) == 4


async def test_a_model_that_cannot_stop_is_spoken_for(tmp_path: Path) -> None:
    async with talking(lambda _: Reply(calls=(READ,)), tmp_path) as (_, b):
        end = await b.answer("r1")
        assert end.answer.startswith("I stopped because I was going in circles: the same call of read_file")


async def test_a_tool_called_too_often_with_other_arguments_is_a_loop_too(tmp_path: Path) -> None:
    def counting(request: ChatRequest) -> Reply:
        if request.tool_choice == "none":
            return Reply("Enough.")
        number = sum(m["role"] == "tool" for m in request.messages)
        return Reply(calls=(Call("read_file", {"path": f"/mnt/user-data/outputs/{number}"}),))

    settings = chain_settings(loops=LoopLimits(tool_warn=3, tool_stop=5))
    async with talking(counting, tmp_path, settings=settings) as (emulator, b):
        end = await b.answer("r1")
        assert end.answer == "Enough."
        warned = ["called read_file 3 times" in str(r.messages) for r in emulator.requests]
        assert warned == [False] * 3 + [True] * 4
        assert sum(m["role"] == "tool" for m in emulator.requests[-1].messages) == 5


async def test_reading_on_in_a_file_is_no_loop_and_reading_the_same_lines_is(tmp_path: Path) -> None:
    def reading(step: int) -> Callable[[ChatRequest], Reply]:
        def respond(request: ChatRequest) -> Reply:
            done = len(request.tool_results())
            if done == 6 or request.tool_choice == "none":
                return Reply(f"{done} reads")
            return Reply(
                calls=(
                    Call(
                        "read_file", {"path": READ.arguments["path"], "offset": 1 + done * step, "limit": 20}
                    ),
                )
            )

        return respond

    async with OpenAIEmulator(reading(200)) as emulator, bench(emulator, tmp_path) as b:
        assert (await b.answer("r1")).answer == "6 reads"
        emulator.responder = reading(1)
        assert (await b.answer("r2")).answer == "4 reads"


class Spent:
    """People's spending, as told."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self.asked: list[str] = []

    async def today(self, user_id: str) -> int:
        self.asked.append(user_id)
        return self.tokens


async def test_a_run_that_has_used_its_budget_up_sums_up(tmp_path: Path) -> None:
    settings = chain_settings(tokens=TokenLimits(run=1))
    async with OpenAIEmulator(looping) as emulator, bench(emulator, tmp_path, settings=settings) as b:
        end = await b.answer("r1")
        again = await b.answer("r2")
    assert end.answer == again.answer == "This is how far I came."
    assert "The budget of 1 tokens for one request is used up." in str(emulator.requests[1].messages)
    assert len(emulator.requests) == 4, "one call, and one to sum up, in each run"


async def test_a_thread_that_has_used_its_budget_up_asks_no_model(tmp_path: Path) -> None:
    settings = chain_settings(tokens=TokenLimits(thread=1))
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path, settings=settings) as b:
        assert (await b.answer("r1")).answer == "answer to: hello"
        refused = await b.answer("r2")
        elsewhere = await b.answer("r3", thread="other")
    assert "budget of 1 tokens for this conversation" in refused.answer
    assert "/new" in refused.answer
    assert elsewhere.answer == "answer to: hello"
    assert len(emulator.requests) == 2


async def test_a_persons_day_has_a_budget_over_all_threads(tmp_path: Path) -> None:
    spent = Spent(100)
    settings = chain_settings(tokens=TokenLimits(user_day=100))
    async with (
        OpenAIEmulator() as emulator,
        bench(emulator, tmp_path, settings=settings, spending=spent) as b,
    ):
        refused = await b.answer("r1", user_id="ada")
        by_nobody = await b.answer("r2", thread="scheduled")
        spent.tokens = 99
        next_day = await b.answer("r3", user_id="ada")
    assert "budget of 100 tokens for your requests of one day" in refused.answer
    assert by_nobody.answer == next_day.answer == "answer to: hello"
    assert spent.asked == ["ada", "ada"]
    assert len(emulator.requests) == 2


@pytest.mark.parametrize("reason", ["content_filter", "SAFETY", "sensitive"])
async def test_what_content_rules_stop_is_said_and_its_calls_are_not_made(
    tmp_path: Path, reason: str
) -> None:
    script = sequence(
        [
            Reply(
                calls=(Call("write_file", {"path": "/mnt/user-data/outputs/x", "content": "x"}),),
                finish_reason=reason,
            ),
            Reply("I will now", finish_reason=reason),
        ]
    )
    async with talking(script, tmp_path) as (emulator, b):
        nothing, partial = await b.answer("r1"), await b.answer("r2")
        assert "content rules" in nothing.answer
        assert "other words" in nothing.answer
        assert partial.answer.startswith("I will now\n\n(")
        assert not (b.files().root / "outputs/x").exists()
        assert len(emulator.requests) == 2


async def test_an_answer_cut_at_the_models_limit_is_told_as_cut(tmp_path: Path) -> None:
    async with talking(lambda _: Reply("Once upon", finish_reason="length"), tmp_path) as (_, b):
        end = await b.answer("r1")
        assert end.answer.startswith("Once upon\n\n(The answer was cut")


async def test_a_call_cut_at_the_models_limit_is_not_made_but_asked_for_anew(tmp_path: Path) -> None:
    half = '{"path": "/mnt/user-data/outputs/x", "content": "half a fi'
    script = sequence(
        [Reply(calls=(Call("write_file", half),), finish_reason="length")],
        then=lambda r: Reply("".join(r.tool_results())),
    )
    async with talking(script, tmp_path) as (_, b):
        end = await b.answer("r1")
        assert "Make the call again with less in it" in end.answer
        assert not (b.files().root / "outputs/x").exists()


async def test_arguments_that_are_no_json_are_told_to_the_model(tmp_path: Path) -> None:
    script = sequence(
        [Reply(calls=(Call("read_file", "nonsense"),))], then=lambda r: Reply("".join(r.tool_results()))
    )
    async with talking(script, tmp_path) as (_, b):
        assert "no valid JSON" in (await b.answer("r1")).answer


@pytest.mark.parametrize("reply", [Reply(""), Reply("  \n")])
async def test_an_empty_answer_is_never_given(tmp_path: Path, reply: Reply) -> None:
    async with talking(lambda _: reply, tmp_path) as (emulator, b):
        assert "ask again in other words" in (await b.answer("r1")).answer
        assert len(emulator.requests) == 2


@asynccontextmanager
async def two_models(
    tmp_path: Path, clock: ManualClock, **settings: Any
) -> AsyncIterator[tuple[OpenAIEmulator, OpenAIEmulator, Bench]]:
    """A main model and the one to fall back on, each with a server of its own."""
    async with (
        OpenAIEmulator(lambda _: Reply("main")) as main,
        OpenAIEmulator(lambda _: Reply("spare"), models=("spare",)) as other,
    ):
        models = ModelCatalog([spec(main), spec(other, "spare")], None, 30)
        chosen = chain_settings(fallback_models=("spare",), **settings)
        async with bench(main, tmp_path, models=models, settings=chosen, now=clock) as b:
            yield main, other, b


@pytest.mark.parametrize(
    "faults",
    [
        [Fault.of_status(500)] * 4,
        [Fault.of_status(429, "slow down", retry_after="3600")],
        [Fault.of_status(402, "Insufficient Balance")],
        [Fault.of_status(401, "bad key")],
        [Fault.cut_cleanly()] * 4,
        [Fault.cut_hard()] * 4,
    ],
    ids=["down", "rate limited", "no money", "bad key", "cut cleanly", "cut hard"],
)
async def test_a_model_that_fails_for_good_is_stood_in_for_and_rests_a_minute(
    tmp_path: Path, faults: list[Fault]
) -> None:
    clock = ManualClock()
    async with two_models(tmp_path, clock) as (main, other, b):
        main.fail(*faults)
        assert (await b.answer("r1")).answer == "spare"
        tried = len(main.requests)
        assert tried == len(faults)
        assert (await b.answer("r2")).answer == "spare"
        assert len(main.requests) == tried, "it rests"
        clock.move(timedelta(minutes=1))
        assert (await b.answer("r3")).answer == "main"
        assert all(request.status == 200 for request in other.requests)


async def test_when_all_models_fail_people_are_told_of_the_one_they_chose(tmp_path: Path) -> None:
    async with two_models(tmp_path, ManualClock()) as (main, other, b):
        main.fail(Fault.of_status(401, "bad key"))
        other.fail(Fault.of_status(402, "Insufficient Balance"))
        end = await b.answer("r1")
        assert end.status is RunStatus.FAILED
        assert "test-model refused our API key" in end.answer
        main.fail(Fault.of_status(401, "bad key"))
        assert (await b.answer("r2")).answer == "spare"


async def test_what_the_model_refuses_is_not_asked_of_another(tmp_path: Path) -> None:
    async with two_models(tmp_path, ManualClock()) as (main, other, b):
        main.fail(*[Fault.of_status(400, "too long", code="context_length_exceeded")] * 3)
        end = await b.answer("r1")
        assert isinstance(end, RunEnded)
        assert "too long" in end.answer
        assert other.requests == []


async def test_a_fallback_too_small_for_the_conversation_gives_way_to_the_model_itself(
    tmp_path: Path,
) -> None:
    async with two_models(tmp_path, ManualClock()) as (main, other, b):
        main.fail(Fault.of_status(401, "bad key"))
        assert (await b.answer("r1")).answer == "spare"
        other.fail(Fault.of_status(400, "too long", code="context_length_exceeded"))
        assert (await b.answer("r2")).answer == "main"
        assert [said.text for said in await b.runtime.history("thread")] == [
            "hello",
            "spare",
            "hello",
            "main",
        ]


async def test_a_request_that_one_model_does_not_accept_does_not_make_it_rest(tmp_path: Path) -> None:
    async with two_models(tmp_path, ManualClock()) as (main, _, b):
        main.fail(Fault.of_status(400, "nonsense"))
        assert (await b.answer("r1")).answer == "spare"
        assert (await b.answer("r2")).answer == "main"
