"""What goes wrong with one subagent stays with it, and stopping the run stops them all."""

import asyncio
from collections.abc import Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from langchain_core.tools import BaseTool, tool

from agent_core.context import RunContext
from agent_core.events import RunEvent, SubagentEvent, SubagentStatus, SubagentTool, ToolStarted
from agent_core.lead_agent import make_lead_agent
from agent_core.models.catalog import ModelCatalog
from agent_core.models.spec import ModelSpec
from agent_core.paths import ThreadFiles
from agent_core.runtime import AgentSettings
from agent_core.subagents.run import SubagentRun
from agent_core.subagents.spec import SubagentConfigError, SubagentSettings, SubagentSpec, subagent_specs
from tests.agent_core.harness import CHAT_OPENAI, Bench, bench, catalog
from tests.emulators.openai import Call, OpenAIEmulator, Reply
from tests.emulators.openai.wire import ChatRequest
from tests.subagents.script import delegating, end_of, report, task


class Waiting:
    """A tool that never ends by itself, and knows how it ended."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended: list[str] = []
        self._begun = asyncio.Semaphore(0)

        @tool
        async def wait(word: str) -> str:
            """Wait."""
            self.begun.append(word)
            self._begun.release()
            try:
                await asyncio.Event().wait()
            finally:
                self.ended.append(word)
            return word

        self.tool: BaseTool = wait

    async def until_begun(self, count: int) -> None:
        """Return once so many more calls have begun."""
        async with asyncio.timeout(20):
            for _ in range(count):
                await self._begun.acquire()


def waiting(prompt: str, request: ChatRequest) -> Reply:
    """Say something, and call the tool that does not end."""
    return Reply(f"I begin with {prompt}", calls=(Call("wait", {"word": prompt}, f"wait-{prompt}"),))


def two_models(emulator: OpenAIEmulator) -> ModelCatalog:
    """A model that works, and one that the server does not know."""
    given = {"base_url": emulator.base_url, "api_key": emulator.api_key}
    specs = [ModelSpec(name, CHAT_OPENAI, {"model": name, **given}) for name in ("test-model", "gone-model")]
    return ModelCatalog(specs, None, 30)


@asynccontextmanager
async def waiting_bench(
    tmp_path: Path, url: str | None, kinds: Sequence[SubagentSpec], rounds: Sequence[Call]
):
    """A run whose subagents wait, unless their task begins with ``report``."""
    waits = Waiting()

    def answer(prompt: str, request: ChatRequest) -> Reply:
        return report(prompt, request) if prompt.startswith("report") else waiting(prompt, request)

    settings = AgentSettings(subagents=tuple(kinds))
    async with (
        OpenAIEmulator(delegating(answer, rounds)) as emulator,
        bench(emulator, tmp_path, url, tools=[waits.tool], settings=settings) as b,
    ):
        yield b, waits, emulator


async def test_the_failure_of_one_leaves_the_others(tmp_path: Path, database_url: str | None) -> None:
    broken = SubagentSpec("broken", "has a model that is gone", model="gone-model")
    calls = [task("tea"), task("coffee", kind="broken"), task("cocoa")]
    async with (
        OpenAIEmulator(delegating(report, calls)) as emulator,
        bench(
            emulator,
            tmp_path,
            database_url,
            models=two_models(emulator),
            settings=AgentSettings(subagents=(broken,)),
        ) as b,
    ):
        events = await b.run("r1", "compare")
    first, second, third = events[-1].answer.split(" | ")
    assert (first, third) == ("report on tea", "report on cocoa")
    assert second.startswith("The subagent failed: ")
    assert "gone-model" in second
    statuses = [end_of(events, name).status for name in ("tea", "coffee", "cocoa")]
    assert statuses == [SubagentStatus.COMPLETED, SubagentStatus.FAILED, SubagentStatus.COMPLETED]
    assert end_of(events, "coffee").usage.input_tokens == 0


async def test_a_subagent_out_of_time_is_stopped_with_its_tool(
    tmp_path: Path, database_url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasty = SubagentSpec("hasty", "has no time", seconds=100)
    found = waiting_bench(tmp_path, database_url, [hasty], [task("tea", kind="hasty")])
    async with found as (b, waits, emulator):
        run = asyncio.create_task(_all_events(b))
        await waits.until_begun(1)
        loop = asyncio.get_running_loop()
        now = loop.time
        monkeypatch.setattr(loop, "time", lambda: now() + 101)
        events = await run
        emulator.responder = lambda request: Reply("fine")
        later = await b.answer("r2", "and now?")
    assert waits.begun == waits.ended == ["tea"]
    answer = events[-1].answer
    assert "stopped after 1.67 minutes" in answer
    assert "I begin with tea" in answer
    assert end_of(events, "tea").status is SubagentStatus.TIMED_OUT
    assert end_of(events, "tea").usage.input_tokens > 0
    assert later.answer == "fine"


async def test_stopping_the_run_stops_every_subagent_and_its_tool(
    tmp_path: Path, database_url: str | None
) -> None:
    names = ["tea", "coffee", "cocoa"]
    async with waiting_bench(tmp_path, database_url, (), [task(name) for name in names]) as found:
        b, waits, emulator = found
        before = asyncio.all_tasks()
        run = asyncio.create_task(_all_events(b))
        await waits.until_begun(3)
        run.cancel()
        async with asyncio.timeout(1):
            with pytest.raises(asyncio.CancelledError):
                await run
        assert sorted(waits.ended) == sorted(names)
        left = [task for task in asyncio.all_tasks() - before if "uvicorn" not in repr(task.get_coro())]
        assert [task for task in left if "Emulator" not in repr(task.get_coro())] == []
        await b.runtime.abandon("thread", "r1", "(stopped)")
        await b.runtime.prune("thread")
        asked = len(emulator.requests)
        emulator.responder = lambda request: Reply(f"answer to: {request.last_user_text}")
        later = await b.answer("r2", "next")
        history = [item.text for item in await b.runtime.history("thread")]
    assert history == ["compare", "(stopped)", "next", "answer to: next"]
    assert later.status == "done"
    assert len(emulator.requests) == asked + 1, "nobody went on with what was stopped"


async def _all_events(b: Bench) -> list[RunEvent]:
    return [event async for event in b.runtime.run(b.request("r1", "compare"))]


async def test_a_stopped_run_can_go_on_where_its_subagents_stood(
    tmp_path: Path, database_url: str | None
) -> None:
    async with waiting_bench(tmp_path, database_url, (), [task("tea"), task("report")]) as found:
        b, waits, emulator = found
        run = asyncio.create_task(_all_events(b))
        await waits.until_begun(1)
        await emulator.wait_for(lambda: len(emulator.requests) == 3)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await b.runtime.prune("thread")
        asked = len(emulator.requests)
        events: list[RunEvent] = []
        stream = b.runtime.run(b.request("r1", "compare"))
        async with asyncio.timeout(20):
            async for event in stream:
                events.append(event)
                if isinstance(event, SubagentTool):
                    break
        await stream.aclose()
        assert len(emulator.requests) - asked in (0, 1), "at most the report that was cut short"
    assert events[-1] == SubagentTool("task-tea", ToolStarted("wait-tea", "wait", "Using wait"))


def test_wrong_definitions_are_refused_with_a_suggestion() -> None:
    def refused(*specs: SubagentSpec) -> str:
        with pytest.raises(SubagentConfigError) as caught:
            subagent_specs(SubagentSettings(custom=specs), ["wait"])
        return str(caught.value)

    assert "'wait'" in refused(SubagentSpec("a", "", tools=("waitt",)))
    assert "cannot have the tool 'task'" in refused(SubagentSpec("a", "", tools=("task",)))
    assert refused(SubagentSpec("a", ""), SubagentSpec("a", "")) == "'a' is there twice"


def test_bash_is_offered_only_where_there_is_a_bash() -> None:
    assert list(subagent_specs(SubagentSettings(), ["wait"])) == ["general-purpose"]
    assert list(subagent_specs(SubagentSettings(), ["wait", "bash"])) == ["general-purpose", "bash"]


async def test_a_subagent_that_is_cancelled_says_so_and_what_it_used(tmp_path: Path) -> None:
    waits = Waiting()
    events: list[SubagentEvent] = []
    async with OpenAIEmulator(lambda request: waiting("tea", request)) as emulator:
        model = catalog(emulator).get("test-model")
        agent = make_lead_agent(model, [waits.tool], (), None, "You wait.")
        context = RunContext("r1", "thread", ThreadFiles(tmp_path))
        spec = SubagentSpec("waiter", "waits")
        run = SubagentRun(agent, spec, "task-tea", "Wait", context, events.append)
        going = asyncio.create_task(run.run("tea"))
        await waits.until_begun(1)
        going.cancel()
        with pytest.raises(asyncio.CancelledError):
            await going
    end = end_of(events, "tea")
    assert end.status is SubagentStatus.CANCELLED
    assert end.usage.input_tokens > 0
    assert waits.ended == ["tea"]
