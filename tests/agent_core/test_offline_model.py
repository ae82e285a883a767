"""The stand-in model: everything can be tried without an account."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.checkpoints import open_checkpoints
from agent_core.events import (
    RunEnded,
    RunEvent,
    SubagentStarted,
    SubagentTool,
    TextDelta,
    ToolStarted,
)
from agent_core.models.catalog import ModelCatalog
from agent_core.models.offline_digest import parse_feed
from agent_core.models.spec import ModelSpec
from agent_core.net import SafeHttp
from agent_core.paths import ThreadFiles
from agent_core.runtime import AgentRuntime, Upload
from agent_core.tools.feeds import make_read_feed
from tests.agent_core.harness import Bench

ROOT = Path(__file__).parents[2]
FEEDS = "file:examples/feeds/agents.xml file:examples/feeds/python.atom"


@pytest.fixture
async def offline(tmp_path: Path) -> AsyncIterator[Bench]:
    """A runtime with the stand-in and the real feed tool on the shipped example feeds."""
    models = ModelCatalog([ModelSpec("offline", "agent_core.models.offline:OfflineChatModel")], None, 10)
    http = await asyncio.to_thread(SafeHttp)
    async with open_checkpoints(None, tmp_path / "c.db") as checkpoints:
        tools = [make_read_feed(http, [ROOT / "examples/feeds"], ROOT)]
        yield Bench(AgentRuntime(models, checkpoints, tools), checkpoints, tmp_path / "files")
    await http.aclose()


async def ask(offline: Bench, run_id: str, text: str, **options: object) -> list[RunEvent]:
    return await offline.run(run_id, text, model="offline", **options)


def end(events: list[RunEvent]) -> RunEnded:
    assert isinstance(events[-1], RunEnded)
    return events[-1]


async def test_it_says_once_that_it_is_a_stand_in_and_how_to_connect_a_model(offline: Bench) -> None:
    first = await ask(offline, "r1", "hello")
    second = await ask(offline, "r2", "and again")
    assert "OPENAI_API_KEY" in end(first).answer
    assert "config.yaml" in end(first).answer
    assert "hello" in end(first).answer
    assert "OPENAI_API_KEY" not in end(second).answer
    assert sum(isinstance(event, TextDelta) for event in first) > 10
    assert end(second).usage.context_tokens > 0


@pytest.mark.parametrize(
    ("asked", "name", "content"),
    [
        ("write a file notes.txt with hello world", "notes.txt", "hello world"),
        ("Please create a file called `todo.md` containing:\n- one\n- two", "todo.md", "- one\n- two"),
        ("save the file a-b.txt: x", "a-b.txt", "x"),
        ("write a note: call back", "note.txt", "call back"),
    ],
)
async def test_it_writes_the_file_it_is_asked_for(
    offline: Bench, asked: str, name: str, content: str
) -> None:
    events = await ask(offline, "r1", asked)
    assert [file.name for file in end(events).files] == [name]
    assert (offline.home / "thread/outputs" / name).read_text() == content
    assert name in end(events).answer


async def test_it_reads_files_back_and_uploaded_ones(offline: Bench) -> None:
    await ask(offline, "r1", "write a file notes.txt with hello world")
    read = await ask(offline, "r2", "read the file notes.txt")
    assert "hello world" in end(read).answer
    missing = await ask(offline, "r3", "show the file gone.txt")
    assert "no such file" in end(missing).answer
    files = ThreadFiles(offline.home / "thread")
    (files.root / "uploads/data.csv").write_text("a,b\n1,2\n")
    upload = Upload("/mnt/user-data/uploads/data.csv", "data.csv", 8, "text/csv")
    sent = await ask(offline, "r4", "have a look", uploads=[upload])
    assert "a,b\n1,2" in end(sent).answer


async def test_it_makes_a_digest_of_feeds_with_links_and_a_file(offline: Bench) -> None:
    events = await ask(offline, "r1", f"Make a digest of {FEEDS} with items and links.")
    started = [event for event in events if isinstance(event, ToolStarted)]
    assert [event.name for event in started] == ["read_feed", "read_feed", "write_file", "present_files"]
    assert [file.name for file in end(events).files] == ["digest.md"]
    document = (offline.home / "thread/outputs/digest.md").read_text()
    assert document.count("\n## ") == 2
    assert document.count("](https://") >= 10
    assert "Not read" not in document
    assert end(events).answer.count("](https://") >= 6


async def test_a_feed_that_cannot_be_read_is_said_and_the_rest_is_there(offline: Bench) -> None:
    events = await ask(offline, "r1", "digest file:examples/feeds/agents.xml http://127.0.0.1:9/feed")
    assert "Not read" in end(events).answer
    assert "](https://" in end(events).answer
    none = await ask(offline, "r2", "digest http://127.0.0.1:9/feed")
    assert "could not read any" in end(none).answer


def test_what_lists_no_entries_is_no_feed() -> None:
    assert parse_feed("https://example.org", "nothing here") is None


async def test_it_has_helpers_compare_things_side_by_side(offline: Bench) -> None:
    events = await ask(offline, "r1", "Please compare green tea, coffee and cocoa with three helpers.")
    begun = {e.description for e in events if isinstance(e, SubagentStarted)}
    assert begun == {"Look at green tea", "Look at coffee", "Look at cocoa"}
    tools = {e.event.name for e in events if isinstance(e, SubagentTool)}
    assert tools == {"write_file", "present_files"}
    assert {file.name for file in end(events).files} == {"green-tea.md", "coffee.md", "cocoa.md"}
    assert "- **green tea**: I wrote green-tea.md; here it is." in end(events).answer
    assert end(events).answer.count("OPENAI_API_KEY") == 1


@pytest.mark.parametrize(
    "asked", ["compare tea with coffee", "compare tea with two helpers", "we compared notes with helpers"]
)
async def test_it_asks_for_no_helpers_where_nothing_is_to_be_compared_by_them(
    offline: Bench, asked: str
) -> None:
    events = await ask(offline, "r1", asked)
    assert not any(isinstance(e, SubagentStarted) for e in events)


async def test_it_sums_up_a_long_conversation_by_what_was_asked(offline: Bench) -> None:
    for turn in range(90):
        last = end(await ask(offline, f"r{turn}", f"question number {turn}"))
    state = await offline.checkpoints.saver.aget_tuple({"configurable": {"thread_id": "thread"}})
    assert state is not None
    summary = state.checkpoint["channel_values"]["summary"]["text"]
    assert summary.startswith("What was asked lately:\n- question number ")
    assert "question number 89" in last.answer
