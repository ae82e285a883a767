"""What the system tells the model besides what people say."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from agent_core.context import RunContext
from agent_core.middlewares.reminders import with_reminders
from agent_core.middlewares.title import first_words
from agent_core.models.catalog import ModelCatalog
from agent_core.models.tokens import estimate_tokens
from agent_core.state import Reminder
from tests.agent_core.harness import bench, chain_settings, spec
from tests.clock import ManualClock
from tests.emulators.openai import Call, OpenAIEmulator, Recorded, Reply, sequence
from tests.emulators.openai.wire import text_of

NEW_YEARS_EVE = datetime(2026, 12, 31, 23, 59, tzinfo=UTC)


def told(request: Recorded) -> list[str]:
    """Give what each user message holds, reminders included."""
    return [text_of(message) for message in request.messages if message["role"] == "user"]


async def test_the_date_is_told_once_a_day_and_never_in_the_system_prompt(tmp_path: Path) -> None:
    clock = ManualClock(NEW_YEARS_EVE)
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path, now=clock) as b:
        await b.answer("r1", "one")
        await b.answer("r2", "two")
        clock.move(timedelta(minutes=1))
        await b.answer("r3", "three")
        await b.answer("r4", "four")
    assert told(emulator.requests[-1]) == [
        "<system-reminder>\nToday is Thursday, 2026-12-31 (UTC).\n</system-reminder>\n\none",
        "two",
        "<system-reminder>\nToday is Friday, 2027-01-01 (UTC).\n</system-reminder>\n\nthree",
        "four",
    ]
    assert not any("2026" in request.messages[0]["content"] for request in emulator.requests)


async def _memory(context: RunContext) -> str:
    if context.user_id == "broken":
        raise OSError("disk")
    return f"{context.user_id} drinks tea" if context.private else ""


async def test_memory_is_told_where_it_is_private_and_a_broken_one_stops_nothing(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path, memory=_memory) as b:
        await b.answer("r1", thread="direct", user_id="ada", private=True)
        await b.answer("r2", thread="group", user_id="ada")
        broken = await b.answer("r3", thread="broken", user_id="broken", private=True)
    first, group, _ = emulator.requests
    assert "What you remember about this person:\nada drinks tea" in told(first)[0]
    assert "drinks tea" not in str(group.messages)
    assert broken.answer == "answer to: hello"


async def test_what_was_told_is_no_part_of_the_history(tmp_path: Path, store_url: str | None) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path, store_url, memory=_memory) as b:
        await b.answer("r1", "one", user_id="ada", private=True, notes=["a fact"])
        said = [item.text for item in await b.runtime.history("thread")]
    assert said[0] == "one"
    assert "a fact" in told(emulator.requests[0])[0]


async def test_a_reminder_never_stands_between_the_results_of_one_turn(tmp_path: Path) -> None:
    calls = (Call("read_file", {"path": "/mnt/user-data/outputs/a"}), Call("ls", {"path": "/mnt/user-data"}))

    async with (
        OpenAIEmulator(
            lambda r: Reply("ok") if len(r.tool_results()) > 7 else Reply(calls=calls)
        ) as emulator,
        bench(emulator, tmp_path) as b,
    ):
        assert (await b.answer("r1")).answer == "ok"
    roles = [message["role"] for message in emulator.requests[-1].messages]
    turn = ["assistant", "tool", "tool"]
    assert roles == ["system", "user", *turn, *turn, *turn, "user", *turn]


def test_reminders_stand_where_they_were_first_put() -> None:
    history = [HumanMessage("a", id="1"), AIMessage("b", id="2"), HumanMessage("c", id="3")]
    inside, after = Reminder(text="x", place="inside"), Reminder(text="y", place="after")
    shown = with_reminders(history, {"1": [after, inside], "gone": [after]})
    assert [m.text for m in shown] == [
        "<system-reminder>\nx\n</system-reminder>\n\na",
        "<system-reminder>\ny\n</system-reminder>",
        "b",
        "c",
    ]
    assert [m.text for m in history] == ["a", "b", "c"]


async def test_system_messages_in_a_history_are_joined_into_the_first(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path) as b:
        await b.answer("r1", "one")
        await b.write("thread", [SystemMessage("Mind the gap."), SystemMessage("And the step.")])
        end = await b.answer("r2", "two")
    messages = emulator.requests[-1].messages
    assert end.answer == "answer to: two"
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "user"]
    assert messages[0]["content"].startswith(emulator.requests[0].messages[0]["content"])
    assert messages[0]["content"].endswith("\n\nMind the gap.\n\nAnd the step.")


async def test_tokens_are_counted_over_all_runs_and_estimated_where_none_are_reported(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator:
        silent = ModelCatalog([spec(emulator, stream_usage=False)], None, 30)
        async with bench(emulator, tmp_path) as b:
            first, second = await b.answer("r1"), await b.answer("r2")
            counted = (await b.runtime.state("thread"))["token_usage"]
        async with bench(emulator, tmp_path / "silent", models=silent) as b:
            estimated = await b.answer("r1", "你好" * 100)
    assert counted["input"] == first.usage.input_tokens + second.usage.input_tokens
    assert counted["output"] == first.usage.output_tokens + second.usage.output_tokens
    assert counted["cached"] == first.usage.cached_tokens + second.usage.cached_tokens > 0
    assert counted["calls"] == 2
    prompt = len(emulator.requests[0].messages[0]["content"]) // 4
    assert prompt + 100 < estimated.usage.input_tokens < prompt + 200
    assert estimated.usage.output_tokens > 100


def test_tokens_of_chinese_are_not_taken_for_those_of_english() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("abcd" * 100) == 100
    assert estimate_tokens("今天天气很好" * 100) == 375
    assert estimate_tokens("カタカナ한국어") == 5


async def test_a_thread_is_named_by_its_first_words(tmp_path: Path, store_url: str | None) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path, store_url) as b:
        assert (await b.runtime.state("thread")).get("title") is None
        await b.answer("r1", "What is new\nin the feeds?")
        await b.answer("r2", "And else?")
        assert (await b.runtime.state("thread"))["title"] == "What is new"


async def test_a_model_can_name_it_and_its_words_stay_out_of_the_answer(tmp_path: Path) -> None:
    script = sequence([Reply("Lots."), Reply("“News of the week”"), Reply("More.")])
    settings = chain_settings(title_model="test-model")
    async with OpenAIEmulator(script) as emulator, bench(emulator, tmp_path, settings=settings) as b:
        events = await b.run("r1", "What is new?")
        await b.answer("r2", "And else?")
        assert (await b.runtime.state("thread"))["title"] == "News of the week"
    assert not any("week" in str(event) for event in events)
    assert len(emulator.requests) == 3


async def test_a_title_model_that_fails_costs_no_answer(tmp_path: Path) -> None:
    settings = chain_settings(title_model="nameless")
    async with OpenAIEmulator() as emulator:
        models = ModelCatalog([spec(emulator), spec(emulator, "nameless")], None, 30)
        async with bench(emulator, tmp_path, models=models, settings=settings) as b:
            assert (await b.answer("r1", "What is new?")).answer == "answer to: What is new?"
            assert (await b.runtime.state("thread"))["title"] == "What is new?"


def test_titles_are_cut_between_words_where_there_are_blanks() -> None:
    assert first_words("short") == "short"
    assert first_words("word " * 30) == "word " * 10 + "word…"
    assert first_words("字" * 100) == "字" * 59 + "…"
    assert first_words("  \n ") == "Untitled"
