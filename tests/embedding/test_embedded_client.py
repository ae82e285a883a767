"""The agent inside another program, with no chat in sight."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from agent_core import AsyncHartClient, HartClient
from agent_core.client import HomeInUseError
from agent_core.events import RunEnded, TextDelta, ToolStarted
from agent_core.models.errors import ModelConfigError
from agent_core.paths import PathRefusedError
from tests.emulators.openai import Call, Fault, OpenAIEmulator, Reply
from tests.emulators.openai.wire import ChatRequest

ROOT = Path(__file__).parents[2]
OFFLINE = {"name": "offline", "use": "agent_core.models.offline:OfflineChatModel"}
NOTE = "/mnt/user-data/outputs/note.md"


def at(emulator: OpenAIEmulator, name: str = "test-model") -> dict[str, Any]:
    return {
        "name": name,
        "use": "langchain_openai:ChatOpenAI",
        "model": name,
        "base_url": emulator.base_url,
        "api_key": emulator.api_key,
    }


def write_yaml(file: Path, content: dict[str, Any]) -> None:
    with file.open("w") as opened:
        YAML().dump(content, opened)


def writes_a_note(request: ChatRequest) -> Reply:
    done = len(request.tool_results())
    if done == 0:
        return Reply(calls=(Call("write_file", {"path": NOTE, "content": "milk"}),))
    if done == 1:
        return Reply(calls=(Call("present_files", {"paths": [NOTE]}),))
    return Reply("Here it is.")


async def test_a_question_is_answered_and_files_can_be_taken(
    tmp_path: Path, database_url: str | None
) -> None:
    async with (
        OpenAIEmulator(writes_a_note) as emulator,
        AsyncHartClient([at(emulator)], tmp_path / "home", database_url=database_url) as hart,
    ):
        answer = await hart.chat("write a note", thread="notes")
        assert (answer.ok, answer.text) == (True, "Here it is.")
        assert answer.usage.input_tokens > 0
        assert [file.path for file in answer.files] == [NOTE]
        assert await hart.read_file(NOTE, "notes") == b"milk"
        assert await hart.files("notes") == [NOTE]
        assert await hart.files("other") == []
        with pytest.raises(PathRefusedError):
            await hart.read_file("/etc/passwd", "notes")


async def test_conversations_are_kept_listed_and_deleted(tmp_path: Path, database_url: str | None) -> None:
    async with OpenAIEmulator() as emulator:
        async with AsyncHartClient([at(emulator)], tmp_path, database_url=database_url) as hart:
            await hart.chat("first question", thread="a")
            await hart.chat("second question", thread="b")
        async with AsyncHartClient([at(emulator)], tmp_path, database_url=database_url) as hart:
            listed = [(thread.id, thread.title) for thread in await hart.threads()]
            assert listed == [("b", "second question"), ("a", "first question")]
            await hart.chat("third question", thread="a")
            assert [said.text for said in await hart.history("a")] == [
                "first question",
                "answer to: first question",
                "third question",
                "answer to: third question",
            ]
            await hart.delete("a")
            assert [thread.id for thread in await hart.threads()] == ["b"]
            assert await hart.history("a") == []
            assert not (tmp_path / "threads" / "a").exists()


async def test_runs_of_one_conversation_wait_for_each_other_and_others_do_not(tmp_path: Path) -> None:
    going = asyncio.Event()

    async def respond(request: ChatRequest) -> Reply:
        if request.last_user_text == "slow":
            await going.wait()
        return Reply(f"answer to: {request.last_user_text}")

    async with OpenAIEmulator(respond) as emulator, AsyncHartClient([at(emulator)], tmp_path) as hart:
        slow = asyncio.create_task(hart.chat("slow", thread="a"))
        await emulator.wait_for(lambda: len(emulator.requests) == 1)
        behind = asyncio.create_task(hart.chat("behind", thread="a"))
        assert (await hart.chat("beside", thread="b")).text == "answer to: beside"
        assert not behind.done()
        going.set()
        assert [answer.text for answer in await asyncio.gather(slow, behind)] == [
            "answer to: slow",
            "answer to: behind",
        ]
        assert len(emulator.requests[-1].messages) == 4


async def test_a_stream_that_is_left_ends_the_run_and_the_next_message_goes_on(tmp_path: Path) -> None:
    async with OpenAIEmulator(writes_a_note) as emulator, AsyncHartClient([at(emulator)], tmp_path) as hart:
        events = hart.stream("write a note")
        async for event in events:
            if isinstance(event, ToolStarted):
                break
        await events.aclose()
        emulator.responder = lambda request: Reply(f"answer to: {request.last_user_text}")
        answer = await hart.chat("and now?")
    assert answer.text == "answer to: and now?"
    assert all(request.status == 200 for request in emulator.requests)


async def test_what_goes_wrong_is_told_and_not_raised(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, AsyncHartClient([at(emulator)], tmp_path) as hart:
        emulator.fail(Fault.of_status(401, "Incorrect API key provided."))
        answer = await hart.chat("hello")
        again = await hart.chat("hello again")
    assert not answer.ok
    assert "refused our API key" in answer.text
    assert answer.error is not None
    assert answer.error.startswith("bad_key")
    assert again.text == "answer to: hello again"


async def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    async with AsyncHartClient([OFFLINE], tmp_path) as hart:
        for thread in ("", "../x", "a/b", ".hidden", "x" * 101, "a\n"):
            with pytest.raises(ValueError, match="thread id"):
                await hart.chat("hello", thread=thread)
        with pytest.raises(ValueError, match="is no file"):
            await hart.chat("hello", files=[tmp_path / "missing.txt"])
        with pytest.raises(ModelConfigError, match="not a configured model"):
            await hart.chat("hello", model="offlin")
        with pytest.raises(HomeInUseError):
            async with AsyncHartClient([OFFLINE], tmp_path):
                pass
        assert (await hart.chat("hello")).ok
    with pytest.raises(RuntimeError, match="not open"):
        await hart.chat("hello")


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ([], "none is configured"),
        ([{"use": "x:Y"}], "has no name"),
        ([{"name": "m"}], "m: use is missing"),
        ([{**OFFLINE, "wrod_seconds": 1}], "did you mean 'word_seconds'"),
    ],
)
async def test_wrong_models_are_refused_as_the_client_opens(models: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(ModelConfigError, match=said):
        async with AsyncHartClient(models, tmp_path):
            pass
    async with AsyncHartClient([OFFLINE], tmp_path):
        pass  # the home was given back


async def test_models_may_come_from_the_file_of_the_bot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config.yaml"
    async with OpenAIEmulator(models=("one", "two")) as emulator:
        monkeypatch.setenv("KEY_FOR_TEST", emulator.api_key)
        entries = [{**at(emulator, name), "api_key": "$KEY_FOR_TEST"} for name in ("one", "two")]
        write_yaml(file, {"version": 1, "agent": {"default_model": "two"}, "models": entries})
        async with AsyncHartClient(file) as hart:
            assert hart.models == ("one", "two")
            await hart.chat("hello")
            await hart.chat("hello", model="one")
    assert [request.json["model"] for request in emulator.requests] == ["two", "one"]
    monkeypatch.delenv("KEY_FOR_TEST")
    with pytest.raises(ModelConfigError, match="KEY_FOR_TEST is not set"):
        async with AsyncHartClient(file):
            pass
    file.write_text("version: 1\n")
    with pytest.raises(ModelConfigError, match="names no models"):
        async with AsyncHartClient(file):
            pass


def test_the_same_without_await(tmp_path: Path) -> None:
    report = tmp_path / "report.txt"
    report.write_text("All is well.")
    with HartClient([OFFLINE], tmp_path / "home") as hart:
        events = list(hart.stream("Write a file notes.md with buy milk"))
        answer = hart.chat("read the file report.txt", files=[report, report])
        assert hart.models == ("offline",)
        assert [thread.id for thread in hart.threads()] == ["main"]
        assert "/mnt/user-data/uploads/report-2.txt" in hart.files()
        assert hart.read_file("/mnt/user-data/uploads/report.txt") == b"All is well."
        for event in hart.stream("hello"):
            assert isinstance(event, TextDelta)
            break
        hart.delete("main")
        assert hart.history() == []
    assert isinstance(events[-1], RunEnded)
    assert any(isinstance(event, ToolStarted) for event in events)
    assert "All is well." in answer.text
    with pytest.raises(RuntimeError, match="not open"):
        hart.chat("hello")


def test_a_home_that_was_not_given_is_gone_at_the_end() -> None:
    with HartClient([OFFLINE]) as hart:
        hart.chat("Write a file notes.md with buy milk")
        home = hart._client._opened.home
        assert home.is_dir()
    assert not home.exists()


def test_the_example_runs_as_it_is() -> None:
    environ = {key: value for key, value in os.environ.items() if not key.startswith("OPENAI_")}
    done = subprocess.run(
        [sys.executable, "examples/embedding/notes.py"],
        cwd=ROOT,
        env={**environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "[Writing notes.md]" in done.stdout
    assert "--- notes.md\nbuy milk, call Ada" in done.stdout


def test_nothing_heavy_is_loaded_before_the_client_is_asked_for() -> None:
    code = "import sys, agent_core; sys.exit('langchain_core' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_a_request_has_its_mode(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, AsyncHartClient([at(emulator)], tmp_path) as hart:
        await hart.chat("hello", mode="pro")
        with pytest.raises(ValueError, match="fast"):
            await hart.chat("hello", mode="fast")
    (request,) = emulator.requests
    assert "Mode: pro." in str(request.messages[-1])
