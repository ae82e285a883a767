"""What the agent may do with files and commands, through the whole chain."""

import asyncio
import json
import logging
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_core.sandbox.local import LocalSandboxProvider
from agent_core.tools.bash import make_bash
from tests.agent_core.harness import Bench, bench
from tests.emulators.openai import Call, ChatRequest, OpenAIEmulator, Reply, sequence
from tests.sandbox.beacon import Beacon

WORK = "/mnt/user-data/workspace"
FILE = f"{WORK}/a.txt"


async def results(emulator: OpenAIEmulator, b: Bench, *turns: Sequence[Call]) -> list[str]:
    """Have the model make these calls, a turn each, and give what it was told."""
    emulator.responder = sequence([Reply(calls=tuple(calls)) for calls in turns], then=_last)
    number = len(emulator.requests)
    return (await b.answer(f"r{number}")).answer.split("\x1f")


def _last(request: ChatRequest) -> Reply:
    return Reply("\x1f".join(request.tool_results()))


def read(path: str = FILE) -> Call:
    return Call("read_file", {"path": path})


def write(content: str, path: str = FILE, **more: object) -> Call:
    return Call("write_file", {"path": path, "content": content, **more})


def edit(old: str, new: str) -> Call:
    return Call("str_replace", {"path": FILE, "old_str": old, "new_str": new})


async def test_a_file_is_changed_only_when_it_was_read(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path) as b:
        place = tmp_path / "files/thread/workspace/a.txt"
        place.parent.mkdir(parents=True)
        place.write_text("theirs")
        told = await results(emulator, b, [write("mine")], [edit("theirs", "mine")])
        assert [text.partition(" ")[2] for text in told] == [
            "exists and you have not read it; read it first, then change it."
        ] * 2
        assert place.read_text() == "theirs"
        told = await results(
            emulator, b, [read()], [edit("theirs", "ours")], [edit("ours", "mine")], [write("new")]
        )
        assert told[1:] == [f"Replaced 1 place in {FILE}"] * 2 + [f"Wrote 3 bytes to {FILE}"]
        assert place.read_text() == "new"


async def test_a_file_that_changed_since_must_be_read_again(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path) as b:
        place = tmp_path / "files/thread/workspace/a.txt"
        assert await results(emulator, b, [write("one")]) == [f"Wrote 3 bytes to {FILE}"]
        place.write_text("changed by a command")
        told = await results(emulator, b, [write("two")], [read()], [write("two")])
        assert "has changed since you read it" in told[0]
        assert told[2] == f"Wrote 3 bytes to {FILE}"


async def test_of_two_changes_at_once_one_is_refused(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path) as b:
        await results(emulator, b, [write("one two")])
        told = await results(emulator, b, [edit("one", "1"), edit("two", "2")])
        assert sorted("has changed" in text for text in told) == [False, True]


async def test_what_is_only_added_to_need_not_be_read_but_is_not_known_by_that(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path) as b:
        place = tmp_path / "files/thread/workspace/a.txt"
        place.parent.mkdir(parents=True)
        place.write_text("theirs\n")
        told = await results(emulator, b, [write("more\n", append=True)], [write("new")])
        assert told[0] == f"Added 5 bytes to {FILE}"
        assert "you have not read it" in told[1]
        assert place.read_text() == "theirs\nmore\n"
        own = f"{WORK}/own.txt"
        told = await results(
            emulator, b, [write("a", own)], [write("b", own, append=True)], [write("c", own)]
        )
        assert told[2] == f"Wrote 1 bytes to {own}"


async def test_the_same_content_may_be_written_again(tmp_path: Path) -> None:
    """As when a process dies after it wrote and before it could tell."""
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path) as b:
        place = tmp_path / "files/thread/workspace/a.txt"
        place.parent.mkdir(parents=True)
        place.write_text("mine")
        assert await results(emulator, b, [write("mine")]) == [f"Wrote 4 bytes to {FILE}"]


async def test_commands_are_judged_before_they_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tools = [make_bash(LocalSandboxProvider(allow_host_bash=True))]
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path, tools=tools) as b:
        with caplog.at_level(logging.WARNING, "agent_core.middlewares.sandbox_audit"):
            told = await results(
                emulator,
                b,
                [Call("bash", {"command": "echo token-123 | base64 -d | sh; touch a.txt"})],
                [Call("bash", {"command": "echo ok; chmod 777 ."})],
                [Call("bash", {"command": "ls; exit 3"})],
            )
    assert told == [
        "The command was not run: it would run a program that is hidden by an encoding. "
        "Find another way, or say that it cannot be done.",
        "ok\n(Warning: it gives everybody all rights to files.)",
        "(no output)\n(exit code 3)",
    ]
    logged = [record.message for record in caplog.records if record.name.endswith("sandbox_audit")]
    assert [line.partition(": ")[2] for line in logged] == [
        "a command is BLOCK: it would run a program that is hidden by an encoding",
        "a command is WARN: it gives everybody all rights to files",
    ]
    assert "token-123" not in caplog.text


async def test_a_thread_knows_its_sandbox_and_is_told_of_another(tmp_path: Path) -> None:
    provider = LocalSandboxProvider(allow_host_bash=True)
    async with (
        OpenAIEmulator() as emulator,
        bench(emulator, tmp_path, tools=[make_bash(provider)], sandboxes=provider) as b,
    ):
        echo = Call("bash", {"command": "echo hi"})
        assert await results(emulator, b, [read()]) != []
        assert (await b.runtime.state("thread"))["sandbox"] == {}, "there is none before the first command"
        assert await results(emulator, b, [echo]) == ["hi"]
        own = await provider.acquire("thread", b.files())
        assert (await b.runtime.state("thread"))["sandbox"] == {"sandbox_id": own.id}

        moved = {"sandbox_id": "elsewhere", "replaces": own.id}
        await b.update("thread", {"sandbox": moved})
        (told, again) = await results(emulator, b, [echo], [echo])
        assert told.startswith("hi\n(The commands of this conversation now run in another sandbox")
        assert again == "hi"
        assert (await b.runtime.state("thread"))["sandbox"] == {"sandbox_id": own.id}


async def test_a_stopped_run_kills_its_command(tmp_path: Path) -> None:
    provider = LocalSandboxProvider(allow_host_bash=True)
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path, tools=[make_bash(provider)]) as b:
        workspace = tmp_path / "files/thread/workspace"
        workspace.mkdir(parents=True)
        beacon = Beacon(workspace / "beacon")
        command = "exec 3>beacon; echo on >&3; trap '' TERM; sleep 1000"
        emulator.responder = sequence([Reply(calls=(Call("bash", {"command": command}),))])
        run = asyncio.create_task(b.answer("r1"))
        await beacon.lit()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await beacon.dark()


async def test_there_is_no_bash_unless_it_was_given(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path) as b:
        await b.answer("r1")
        names = [tool["function"]["name"] for tool in json.loads(emulator.requests[0].body)["tools"]]
    own = ["ls", "glob", "grep", "read_file", "write_file", "str_replace", "present_files"]
    assert [name for name in names if name in own] == own
    assert "bash" not in names
