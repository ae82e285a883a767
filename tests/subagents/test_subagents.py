"""The lead agent gives parts of its work to subagents."""

import asyncio
import re
from pathlib import Path

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool

from agent_core.events import (
    FilePresented,
    SubagentEnded,
    SubagentStarted,
    SubagentStatus,
    SubagentStep,
    SubagentText,
    SubagentTool,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from agent_core.middlewares.chain import ChainSettings
from agent_core.models.catalog import ModelCatalog
from agent_core.models.prices import Prices
from agent_core.models.spec import ModelSpec
from agent_core.runtime import AgentSettings
from agent_core.subagents.spec import SubagentSpec
from tests.agent_core.harness import CHAT_OPENAI, Bench, bench
from tests.emulators.openai import Call, OpenAIEmulator, Reply
from tests.emulators.openai.wire import ChatRequest
from tests.subagents.script import (
    asked_by_subagents,
    delegating,
    end_of,
    report,
    started,
    subagent_events,
    task,
    tokens_of,
)

THREE = (task("tea"), task("coffee"), task("cocoa"))
NOTE = "/mnt/user-data/outputs/tea.md"


def writing(prompt: str, request: ChatRequest) -> Reply:
    """Write a file, present it, report."""
    match len(request.tool_results()):
        case 0:
            return Reply(calls=(Call("write_file", {"path": NOTE, "content": "green"}, "w1"),))
        case 1:
            return Reply(calls=(Call("present_files", {"paths": [NOTE]}, "p1"),))
        case _:
            return Reply(f"wrote {NOTE}")


async def test_subagents_of_one_response_work_side_by_side(tmp_path: Path, database_url: str | None) -> None:
    together = asyncio.Barrier(3)

    async def meet(prompt: str, request: ChatRequest) -> Reply:
        # Each answers only when all three have asked: one after the other, none ever would.
        await asyncio.wait_for(together.wait(), 20)
        return Reply(f"report on {prompt}")

    async with (
        OpenAIEmulator(delegating(meet, THREE)) as emulator,
        bench(emulator, tmp_path, database_url) as b,
    ):
        events = await b.run("r1", "compare")
    assert events[-1].answer == "report on tea | report on coffee | report on cocoa"
    marks = [type(e) for e in events if isinstance(e, SubagentStarted | SubagentEnded)]
    assert marks == [SubagentStarted] * 3 + [SubagentEnded] * 3


async def test_a_subagent_sees_its_task_and_nothing_else(tmp_path: Path) -> None:
    script = delegating(report, [task("tea in all detail")])
    async with OpenAIEmulator(script) as emulator, bench(emulator, tmp_path) as b:
        await b.answer("r1", "my secret question", notes=["a note"])
        (request,) = asked_by_subagents(emulator.requests)
        lead = emulator.requests[0].json
    system, given = request.messages
    assert given["role"] == "user"
    assert request.last_user_text == "tea in all detail"
    assert "secret" not in str(request.messages)
    assert "a note" not in str(request.messages)
    names = [tool["function"]["name"] for tool in lead["tools"]]
    own = [tool["function"]["name"] for tool in request.tools]
    assert "task" in names
    assert {"task", "ask_clarification"}.isdisjoint(own)
    assert set(names) - set(own) == {"task", "ask_clarification"}
    assert "team-mate" in system["content"]


async def test_the_lead_agents_prompt_and_tools_stay_the_same(tmp_path: Path) -> None:
    def never_or_always(request: ChatRequest) -> Reply:
        reply = delegating(report, THREE)(request) if "delegate" in request.last_user_text else Reply("ok")
        assert isinstance(reply, Reply)
        return reply

    async with OpenAIEmulator(delegating(report, THREE)) as emulator, bench(emulator, tmp_path) as b:
        await b.answer("r1", "delegate")
        emulator.responder = never_or_always
        await b.answer("r2", "simple", thread="other")
        subagents = {str(request.messages) for request in asked_by_subagents(emulator.requests)}
        bodies = [request.json for request in emulator.requests]
    leads = [body for body in bodies if "subagent of Hart" not in body["messages"][0]["content"]]
    assert len(leads) == 3
    assert len({str((body["messages"][0], body["tools"])) for body in leads}) == 1
    assert len(subagents) == 3


async def test_what_a_subagent_does_is_told_and_not_mixed_with_the_answer(
    tmp_path: Path, database_url: str | None
) -> None:
    async with (
        OpenAIEmulator(delegating(writing, [task("tea")])) as emulator,
        bench(emulator, tmp_path, database_url) as b,
    ):
        events = await b.run("r1", "write about tea")
    told = subagent_events(events, "tea")
    assert told[0] == SubagentStarted("task-tea", "general-purpose", "Look at tea")
    assert [e.event for e in told if isinstance(e, SubagentTool)] == [
        ToolStarted("w1", "write_file", "Writing tea.md"),
        ToolFinished("w1", "write_file", ok=True),
        ToolStarted("p1", "present_files", "Sharing tea.md"),
        ToolFinished("p1", "present_files", ok=True),
    ]
    assert [e.number for e in told if isinstance(e, SubagentStep)] == [1, 2, 3]
    assert "".join(e.text for e in told if isinstance(e, SubagentText)) == f"wrote {NOTE}"
    assert isinstance(told[-1], SubagentEnded)
    assert told[-1].status is SubagentStatus.COMPLETED
    assert [e.call_id for e in events if isinstance(e, ToolStarted | ToolFinished)] == ["task-tea"] * 2
    spoken = "".join(e.text for e in events if isinstance(e, TextDelta))
    assert spoken == events[-1].answer == f"wrote {NOTE}"


async def test_files_are_shared_and_what_a_subagent_presents_reaches_people(tmp_path: Path) -> None:
    read = Call("read_file", {"path": NOTE}, "r1")
    script = delegating(writing, [task("tea")], [read])
    async with OpenAIEmulator(script) as emulator, bench(emulator, tmp_path) as b:
        events = await b.run("r1", "write about tea")
    assert events[-1].answer.endswith("green")
    assert [file.path for file in events[-1].files] == [NOTE]
    assert [e.file.path for e in events if isinstance(e, FilePresented)] == [NOTE]


async def test_tokens_of_subagents_are_charged_to_the_run(tmp_path: Path, database_url: str | None) -> None:
    async with (
        OpenAIEmulator(delegating(writing, [task("tea"), task("coffee")])) as emulator,
        bench(emulator, tmp_path, database_url) as b,
    ):
        events = await b.run("r1", "write about both")
        again = await b.answer("r1", "write about both")
        everything = tokens_of(emulator.requests)
        last = tokens_of(emulator.requests[-1:])
    assert len(emulator.requests) == 8
    assert events[-1].usage.input_tokens == again.usage.input_tokens == everything
    parts = [end_of(events, name).usage for name in ("tea", "coffee")]
    assert all(part.input_tokens > 0 and part.output_tokens > 0 for part in parts)
    assert events[-1].usage.context_tokens < last + 100, "what the thread fills, without the subagents"


async def test_nothing_of_a_finished_subagent_stays_in_the_store(
    tmp_path: Path, database_url: str | None
) -> None:
    thread: RunnableConfig = {"configurable": {"thread_id": "thread"}}

    async def places(b: Bench) -> list[str]:
        found = [
            kept.config["configurable"]["checkpoint_ns"] async for kept in b.checkpoints.saver.alist(thread)
        ]
        return sorted(set(found))

    async with (
        OpenAIEmulator(delegating(writing, [task("tea"), task("coffee")])) as emulator,
        bench(emulator, tmp_path, database_url) as b,
    ):
        await b.answer("r1", "write about both")
        before = await places(b)
        await b.runtime.prune("thread")
        after = await places(b)
    assert len(before) == 3
    assert after == [""]


async def test_what_subagents_cost_is_counted(tmp_path: Path) -> None:
    async with OpenAIEmulator(delegating(writing, [task("tea"), task("coffee")])) as emulator:
        given = {"model": "test-model", "base_url": emulator.base_url, "api_key": emulator.api_key}
        spec = ModelSpec("test-model", CHAT_OPENAI, given, prices=Prices(input=1_000_000, output=0))
        async with bench(emulator, tmp_path, models=ModelCatalog([spec], None, 30)) as b:
            end = await b.answer("r1", "write about both")
        everything = tokens_of(emulator.requests)
    assert end.usage.cost == everything, "a dollar for each token of a prompt"


async def test_calls_too_many_are_answered(tmp_path: Path, database_url: str | None) -> None:
    first = [task(name) for name in ("a", "b", "c", "d", "e")]
    second = [task(name) for name in ("f", "g")]
    third = [task(name) for name in ("h", "i")]
    settings = AgentSettings(chain=ChainSettings(subagents_at_once=3, subagents_per_run=6))
    async with (
        OpenAIEmulator(delegating(report, first, second, third)) as emulator,
        bench(emulator, tmp_path, database_url, settings=settings) as b,
    ):
        events = await b.run("r1", "much")
        results = events[-1].answer.split(" | ")
        assert sorted(started(events)) == [f"task-{name}" for name in "abcfgh"]
        assert results[:3] == ["report on a", "report on b", "report on c"]
        assert all("at most 3 subagents work at once" in text for text in results[3:5])
        assert results[5:8] == ["report on f", "report on g", "report on h"]
        assert "has had its 6 subagents" in results[8]
        finished = {e.call_id: e.ok for e in events if isinstance(e, ToolFinished)}
        assert sorted(name for name, ok in finished.items() if not ok) == ["task-d", "task-e", "task-i"]
        emulator.responder = delegating(report, [task("z")])
        later = await b.answer("r2", "the next request has its own")
    assert later.answer == "report on z"


async def test_an_unknown_kind_is_answered_with_those_there_are(tmp_path: Path) -> None:
    script = delegating(report, [task("tea", kind="poet")])
    async with OpenAIEmulator(script) as emulator, bench(emulator, tmp_path) as b:
        end = await b.answer("r1", "rhyme")
    assert end.answer == "There is no subagent 'poet'; there are general-purpose."


async def test_a_subagent_at_its_last_turn_sums_up(tmp_path: Path) -> None:
    def tireless(prompt: str, request: ChatRequest) -> Reply:
        if request.tool_choice == "none":
            return Reply("this far and no further")
        return Reply(calls=(Call("ls", {"path": f"/mnt/user-data/outputs/{len(request.messages)}"}),))

    short = SubagentSpec("short", "does little", max_turns=2)
    settings = AgentSettings(subagents=(short,))
    script = delegating(tireless, [task("tea", kind="short")])
    async with OpenAIEmulator(script) as emulator, bench(emulator, tmp_path, settings=settings) as b:
        end = await b.answer("r1", "look")
        asked = asked_by_subagents(emulator.requests)
    assert end.answer == "this far and no further"
    assert len(asked) == 3


async def test_a_custom_subagent_has_its_own_prompt_and_tools(tmp_path: Path) -> None:
    reader = SubagentSpec("reader", "reads files", prompt="Read slowly.", tools=("read_file", "ls"))
    settings = AgentSettings(subagents=(reader,), instructions="Be kind.")
    script = delegating(report, [task("tea", kind="reader")])
    async with OpenAIEmulator(script) as emulator, bench(emulator, tmp_path, settings=settings) as b:
        end = await b.answer("r1", "read")
        (request,) = asked_by_subagents(emulator.requests)
        offered = emulator.requests[0].json["tools"]
    assert end.answer == "report on tea"
    assert [tool["function"]["name"] for tool in request.tools] == ["ls", "read_file"]
    system = request.messages[0]["content"]
    assert "Read slowly." in system
    assert "Be kind." in system
    (described,) = [tool["function"] for tool in offered if tool["function"]["name"] == "task"]
    assert "- reader: reads files" in described["description"]
    kinds = described["parameters"]["properties"]["subagent_type"]["description"]
    assert kinds == "Which kind of subagent: general-purpose, reader"


async def test_large_results_of_calls_with_one_id_are_kept_apart(tmp_path: Path) -> None:
    @tool
    async def large(word: str) -> str:
        """Say a word very often."""
        return word * 10_000

    def look(prompt: str, request: ChatRequest) -> Reply:
        if results := request.tool_results():
            return Reply(re.findall(r"/mnt/\S+\.txt", results[0])[0])
        return Reply(calls=(Call("large", {"word": prompt}, "call_0"),))

    script = delegating(look, [task("tea"), task("rum")])
    async with OpenAIEmulator(script) as emulator, bench(emulator, tmp_path, tools=[large]) as b:
        end = await b.answer("r1", "compare")
        kept = [b.files().read(path, 100_000) for path in end.answer.split(" | ")]
    assert kept == [b"tea" * 10_000, b"rum" * 10_000]
