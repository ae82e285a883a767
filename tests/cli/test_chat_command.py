"""``hart chat -m``: by itself, and joined to a Hart that runs."""

import json
from pathlib import Path

import pytest

from tests.cli.process import run_hart, service
from tests.emulators.openai import Call, ChatRequest, Fault, OpenAIEmulator, Reply
from tests.hart import Site

OUTPUT = "/mnt/user-data/outputs/notes.md"


@pytest.fixture
def site(site: Site, openai: OpenAIEmulator) -> Site:
    site.use_openai(openai)
    site.config["limits"] = {"model_retries": 0}
    return site


def writer(request: ChatRequest) -> Reply:
    """Read what was uploaded, write it into a file and hand that over."""
    results = request.tool_results()
    match len(results):
        case 0:
            return Reply(calls=(Call("read_file", {"path": "/mnt/user-data/uploads/in.txt"}),))
        case 1:
            return Reply(calls=(Call("write_file", {"path": OUTPUT, "content": results[0].upper()}),))
        case 2:
            return Reply(calls=(Call("present_files", {"paths": [OUTPUT]}),))
    return Reply("Here.")


def content(file: dict[str, str]) -> str:
    """What is in a file that came with an answer."""
    return Path(file["path"]).read_text()


class TestByItself:
    async def test_prints_the_answer(self, site: Site) -> None:
        outcome = await run_hart(site, "chat", "-m", "hello")
        assert (outcome.code, outcome.out, outcome.err) == (0, "answer to: hello\n", "")
        assert not (site.home / "server.json").exists()

    async def test_a_thread_is_remembered_from_one_call_to_the_next(
        self, site: Site, openai: OpenAIEmulator
    ) -> None:
        for text, thread in (("one", "a"), ("two", "a"), ("three", "b")):
            assert (await run_hart(site, "chat", "-m", text, "--thread", thread)).code == 0
        asked = [request.said for request in openai.accepted]
        assert asked == [["one"], ["one", "two"], ["three"]]

    async def test_sends_a_file_along_and_saves_the_one_that_comes_back(
        self, site: Site, openai: OpenAIEmulator
    ) -> None:
        openai.responder = writer
        (site.root / "in.txt").write_text("quiet")
        outcome = await run_hart(site, "chat", "-m", "shout", "--file", "in.txt", "--json", "--thread", "t")
        answer = json.loads(outcome.out)
        (file,) = answer["files"]
        assert (outcome.code, answer["thread"], answer["text"]) == (0, "t", "Here.")
        assert file["name"] == "notes.md"
        assert content(file) == "QUIET"

    async def test_a_run_that_fails_is_exit_code_1(self, site: Site, openai: OpenAIEmulator) -> None:
        openai.fail(Fault.of_status(401))
        outcome = await run_hart(site, "chat", "-m", "hello")
        assert outcome.code == 1
        assert "refused our API key" in outcome.out
        assert openai.api_key not in outcome.out + outcome.err + (site.home / "hart.log").read_text()

    async def test_an_answer_that_takes_too_long_is_exit_code_1(
        self, site: Site, openai: OpenAIEmulator
    ) -> None:
        site.config["limits"] = {"drain_seconds": 0}
        openai.fail(Fault.hang())
        outcome = await run_hart(site, "chat", "-m", "hello", "--timeout", "1")
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.err.startswith("No answer within 1 s.")

    async def test_a_file_that_is_not_there_is_exit_code_1(self, site: Site) -> None:
        outcome = await run_hart(site, "chat", "-m", "hello", "--file", "nowhere.txt")
        assert (outcome.code, outcome.out) == (1, "")
        assert len(outcome.err.splitlines()) == 1
        assert "nowhere.txt" in outcome.err

    async def test_options_that_do_not_fit_are_exit_code_2(self, site: Site) -> None:
        outcome = await run_hart(site, "chat", "--json")
        assert outcome.code == 2
        assert "--json and --file go with -m." in outcome.err


async def test_joined_it_uses_the_hart_that_runs(site: Site, openai: OpenAIEmulator) -> None:
    openai.responder = writer
    (site.root / "in.txt").write_text("quiet")
    async with service(site):
        first = await run_hart(site, "chat", "-m", "shout", "--file", "in.txt", "--json")
        openai.responder = lambda request: Reply(str(len(request.messages)))
        second = await run_hart(site, "chat", "-m", "how long is this?")
        other = await run_hart(site, "chat", "-m", "and this?", "--thread", "other")
    assert first.code == second.code == other.code == 0
    assert content(json.loads(first.out)["files"][0]) == "QUIET"
    assert (int(second.out), int(other.out)) == (10, 2)
