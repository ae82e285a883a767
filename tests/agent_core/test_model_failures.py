"""What a run does when the model fails: try again, wait as asked, or say so."""

import logging
from pathlib import Path

import pytest

from agent_core.events import RunStatus, TextDelta
from agent_core.middlewares.llm_error_handling import RetryPolicy
from tests.agent_core.harness import bench, catalog, chain_settings
from tests.emulators.openai import Fault, OpenAIEmulator, Reply

LONG = "a long answer of many pieces " * 5


@pytest.mark.parametrize(
    "fault",
    [Fault.cut_cleanly(), Fault.cut_hard(), Fault.malformed(), Fault.of_status(500), Fault.of_status(502)],
    ids=["cut cleanly", "cut hard", "malformed", "500", "502"],
)
async def test_a_broken_answer_is_asked_for_again(tmp_path: Path, fault: Fault) -> None:
    async with OpenAIEmulator(lambda _: Reply(LONG)) as emulator, bench(emulator, tmp_path) as b:
        emulator.fail(fault)
        events = await b.run("r1")
    end = events[-1]
    assert end.answer == LONG.strip()
    assert len(b.pauses) == 1
    tries: dict[str, str] = {}
    for event in events:
        if isinstance(event, TextDelta):
            tries[event.message_id] = tries.get(event.message_id, "") + event.text
    assert list(tries.values())[-1] == LONG, "each try has an id of its own"
    assert len(tries) <= 2


@pytest.mark.parametrize("hang", [Fault.hang(), Fault.hang_mid_stream()], ids=["before", "in the middle"])
async def test_a_model_that_hangs_is_asked_again_after_the_time_limit(tmp_path: Path, hang: Fault) -> None:
    settings = chain_settings(retry=RetryPolicy(call_seconds=0.4))
    async with (
        OpenAIEmulator(lambda _: Reply(LONG)) as emulator,
        bench(emulator, tmp_path, settings=settings) as b,
    ):
        await b.answer("warm")
        emulator.fail(hang)
        end = await b.answer("r1")
    assert end.status is RunStatus.DONE
    assert len(b.pauses) == 1


async def test_a_rate_limit_is_waited_for_as_long_as_asked(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path) as b:
        emulator.fail(Fault.of_status(429, "slow down", retry_after="7"), Fault.of_status(429, "slow down"))
        end = await b.answer("r1")
    assert end.status is RunStatus.DONE
    assert 7 <= b.pauses[0] < 8
    assert 1 <= b.pauses[1] <= 2


async def test_a_rate_limit_of_an_hour_is_not_waited_for(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path) as b:
        emulator.fail(Fault.of_status(429, "slow down", retry_after="3600"))
        end = await b.answer("r1")
    assert end.status is RunStatus.FAILED
    assert b.pauses == []
    assert "Wait a minute" in end.answer


@pytest.mark.parametrize(
    ("fault", "said", "kind"),
    [
        (Fault.of_status(401, "bad key"), "refused our API key", "bad_key"),
        (Fault.of_status(403, "not yours"), "may not use", "forbidden"),
        (Fault.of_status(404, "no such model"), "does not know the model", "not_found"),
        (Fault.of_status(400, "nonsense"), "did not accept", "invalid"),
        (Fault.of_status(400, "too long", code="context_length_exceeded"), "/new", "too_long"),
        (Fault.of_status(400, "This model's maximum context length is 4096 tokens"), "/new", "too_long"),
        (Fault.of_status(429, "quota", code="insufficient_quota"), "used up", "quota"),
        (Fault.of_status(402, "Insufficient Balance"), "used up", "quota"),
    ],
    ids=lambda value: value if isinstance(value, str) and "_" in value else "",
)
async def test_what_cannot_pass_is_said_at_once_and_stays_in_the_history(
    tmp_path: Path, fault: Fault, said: str, kind: str
) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path) as b:
        emulator.fail(fault)
        end = await b.answer("r1", "first")
        again = await b.answer("r1", "first")
        later = await b.answer("r2", "second")
        history = [item.text for item in await b.runtime.history("thread")]
    assert end.status is RunStatus.FAILED
    assert said in end.answer
    assert end.error is not None
    assert end.error.startswith(f"{kind}:")
    assert b.pauses == []
    assert again == end, "telling it again asks no model again"
    assert later.status is RunStatus.DONE
    assert history == ["first", end.answer, "second", "answer to: second"]
    assert len(emulator.requests) == 2


async def test_a_server_that_never_recovers_is_given_up(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path) as b:
        emulator.fail(*[Fault.of_status(500)] * 4)
        end = await b.answer("r1")
    assert end.status is RunStatus.FAILED
    assert len(emulator.requests) == 4
    assert [round(pause) >= 0.5 * 2**i for i, pause in enumerate(b.pauses)] == [True] * 3


async def test_an_address_where_nobody_listens_is_told_as_unreachable(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator:
        models = catalog(emulator)
    async with bench(emulator, tmp_path, models=models) as b:
        end = await b.answer("r1")
    assert end.status is RunStatus.FAILED
    assert "cannot reach" in end.answer
    assert len(b.pauses) == 3


async def test_no_secret_gets_into_log_or_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    key = "verysecretvalue-123456"
    async with (
        OpenAIEmulator() as emulator,
        bench(emulator, tmp_path, models=catalog(emulator, api_key=key)) as b,
    ):
        emulator.fail(Fault.of_status(500, f"boom {key}"), Fault.of_status(401, f"Incorrect key: {key}"))
        emulator.api_key = key
        end = await b.answer("r1")
    assert end.error is not None
    assert key not in end.error
    assert key not in end.answer
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("agent_core")]
    assert ours
    assert not any(key in line for line in ours)
