"""The local channels over the real web server: reading, resuming, live progress."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from channels.console.client import LocalClient
from channels.feed import FeedEntry
from channels.views import Phase, RunView
from tests.emulators.openai import Call, ChatRequest, Fault, OpenAIEmulator, Reply, echo
from tests.engine.ledger import eventually
from tests.hart import Site, hart_on, local_client


@pytest.fixture
def local_site(site: Site, openai: OpenAIEmulator) -> Site:
    """No platform, one model."""
    site.use_openai(openai)
    site.config["limits"] = {"model_retries": 0, "drain_seconds": 0}
    return site


async def ask(client: LocalClient, chat: str, text: str, message_id: str) -> FeedEntry:
    """Post a message and give the entry that answers it."""
    await client.post(chat, text, message_id)

    async def answer() -> FeedEntry | None:
        entries = (await client.history(chat, 50)).entries
        return next((entry for entry in entries if entry.in_reply_to == message_id and entry.final), None)

    return await eventually(answer)


async def news(client: LocalClient, chat: str, after: str | None) -> AsyncIterator[FeedEntry | RunView]:
    """What the event stream tells, without word of the connection itself."""
    async with aclosing(client.follow(chat, after)) as events:
        async for event in events:
            if isinstance(event, FeedEntry | RunView):
                yield event


async def test_what_was_said_is_read_in_order(local_site: Site) -> None:
    async with hart_on(local_site) as hart, local_client(hart) as client:
        for number in (1, 2, 3):
            await ask(client, "desk", f"q{number}", f"m{number}")
        everything = await client.history("desk", 50)
        latest = await client.history("desk", 3)
    said = [(entry.role, entry.text) for entry in everything.entries]
    assert said == [
        pair for number in (1, 2, 3) for pair in (("person", f"q{number}"), ("hart", f"answer to: q{number}"))
    ]
    assert latest.entries == everything.entries[-3:]
    assert latest.cursor == everything.cursor
    assert len({entry.id for entry in everything.entries}) == 6


async def test_a_reader_goes_on_from_its_cursor_also_after_a_restart(local_site: Site) -> None:
    async with hart_on(local_site) as hart, local_client(hart) as client:
        await ask(client, "desk", "before", "m1")
        cursor = (await client.history("desk", 50)).cursor
        await ask(client, "desk", "between", "m2")
    async with hart_on(local_site) as hart, local_client(hart) as client:
        await client.post("desk", "after", "m3")
        seen: list[str] = []
        async with aclosing(news(client, "desk", cursor)) as stream:
            async for event in stream:
                if isinstance(event, FeedEntry) and event.text not in seen:
                    seen.append(event.text)
                if seen and seen[-1] == "answer to: after":
                    break
    assert seen == ["between", "answer to: between", "after", "answer to: after"]


async def test_a_cursor_of_another_life_starts_with_the_latest(local_site: Site) -> None:
    async with hart_on(local_site) as hart, local_client(hart) as client:
        await ask(client, "desk", "hello", "m1")
        async with aclosing(news(client, "desk", "nonsense")) as stream:
            first = await anext(stream)
    assert isinstance(first, FeedEntry)
    assert first.text == "hello"


async def test_a_run_is_seen_live_and_ends_with_its_entry(local_site: Site, openai: OpenAIEmulator) -> None:
    thinking, answering = asyncio.Event(), asyncio.Event()

    async def model(request: ChatRequest) -> Reply:
        if not request.tool_results():
            await thinking.wait()
            call = Call("write_file", {"path": "/mnt/user-data/outputs/a.md", "content": "x"})
            return Reply(calls=(call,))
        await answering.wait()
        return Reply("all done", chunk_size=3)

    openai.responder = model
    phases: list[Phase] = []
    async with hart_on(local_site) as hart, local_client(hart) as client:
        cursor = (await client.history("desk", 1)).cursor
        async with aclosing(news(client, "desk", cursor)) as stream:
            await client.post("desk", "write", "m1")
            last = RunView("", None)
            async for event in stream:
                if isinstance(event, FeedEntry):
                    if event.role == "hart":
                        break
                    continue
                assert event.in_reply_to == "m1"
                last = event
                phases.append(event.phase)
                if event.phase is Phase.THINKING:
                    thinking.set()
                if event.tools and event.tools[0].done:
                    answering.set()
    assert phases[0] is Phase.THINKING
    assert Phase.WORKING in phases
    assert (event.text, event.final) == ("all done", True)
    assert [tool.done and tool.ok for tool in last.tools] in ([True], [])


async def test_who_comes_late_sees_the_run_that_is_on(local_site: Site, openai: OpenAIEmulator) -> None:
    gate = asyncio.Event()

    async def model(request: ChatRequest) -> Reply:
        await gate.wait()
        return echo(request)

    openai.responder = model
    async with hart_on(local_site) as hart, local_client(hart) as client:
        await client.post("desk", "slow", "m1")
        await openai.wait_for(lambda: len(openai.requests) == 1, timeout=30)
        async with aclosing(news(client, "desk", None)) as stream:
            told = [await anext(stream), await anext(stream)]
            gate.set()
    assert {type(one) for one in told} == {FeedEntry, RunView}


async def test_console_and_web_are_separate_and_so_are_chats(
    local_site: Site, openai: OpenAIEmulator
) -> None:
    async with (
        hart_on(local_site) as hart,
        local_client(hart, "console") as console,
        local_client(hart, "web") as web,
    ):
        await ask(console, "main", "from the console", "m1")
        await ask(web, "main", "from the web", "m1")
        await ask(web, "other", "elsewhere", "m1")
        chats = [
            [entry.text for entry in (await client.history(chat, 50)).entries]
            for client, chat in ((console, "main"), (web, "main"), (web, "other"), (console, "other"))
        ]
    assert chats == [
        ["from the console", "answer to: from the console"],
        ["from the web", "answer to: from the web"],
        ["elsewhere", "answer to: elsewhere"],
        [],
    ]
    assert all(len(request.messages) == 2 for request in openai.accepted), "no chat knows of another"


async def test_new_with_text_is_shown_as_it_was_said(local_site: Site) -> None:
    async with hart_on(local_site) as hart, local_client(hart) as client:
        await ask(client, "desk", "first", "m1")
        await ask(client, "desk", "/new second", "m2")

        async def both() -> list[FeedEntry]:
            found = [one for one in (await client.history("desk", 50)).entries if one.in_reply_to == "m2"]
            return found if len(found) == 2 else []

        answers = await eventually(both)
        said = [entry.text for entry in (await client.history("desk", 50)).entries if entry.role == "person"]
    assert said == ["first", "/new second"]
    assert any(entry.text == "answer to: second" for entry in answers)


async def test_an_answer_tells_whether_its_run_failed(local_site: Site, openai: OpenAIEmulator) -> None:
    openai.fail(Fault.of_status(401))
    async with hart_on(local_site) as hart, local_client(hart) as client:
        failed = await ask(client, "desk", "one", "m1")
        done = await ask(client, "desk", "two", "m2")
        status = await ask(client, "desk", "/status", "m3")
    assert [failed.failed, done.failed, status.failed] == [True, False, False]


async def test_a_file_of_another_chat_is_not_given_out(
    local_site: Site, openai: OpenAIEmulator, tmp_path: Path
) -> None:
    path = "/mnt/user-data/outputs/a.md"
    calls = (Call("write_file", {"path": path, "content": "secret"}),)

    def model(request: ChatRequest) -> Reply:
        match len(request.tool_results()):
            case 0:
                return Reply(calls=calls)
            case 1:
                return Reply(calls=(Call("present_files", {"paths": [path]}),))
        return Reply("here")

    openai.responder = model
    async with hart_on(local_site) as hart, local_client(hart) as client:
        entry = await ask(client, "desk", "write", "m1")
        (file,) = entry.files
        saved = await client.download("desk", file, tmp_path / "got")
        assert saved.read_text() == "secret"
        with pytest.raises(Exception, match="no such file"):
            await client.download("other", file, tmp_path / "got")
