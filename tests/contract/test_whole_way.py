"""A running Hart on each platform: what is asked once is answered once, and what cannot be done is told."""

from pathlib import Path

import pytest

from tests.contract.bench import Bench, PlatformBench, until
from tests.contract.benches import connected
from tests.emulators.openai import Call, ChatRequest, OpenAIEmulator, Reply
from tests.hart import Site, hart_on

pytestmark = connected


@pytest.fixture
def site(bench: Bench, openai: OpenAIEmulator, tmp_path: Path) -> Site:
    """A place for Hart on SQLite that listens to the bench's platform, where everybody may write."""
    assert isinstance(bench, PlatformBench)
    site = Site(tmp_path)
    site.use_openai(openai)
    site.config["limits"] = {"model_retries": 0, "drain_seconds": 0, "attachment_mb": 1}
    bench.configure(site)
    return site


async def test_a_message_delivered_four_times_is_one_run_and_one_answer(
    bench: PlatformBench, site: Site, openai: OpenAIEmulator
) -> None:
    bench.hurry()
    bench.lose_acks(1)
    async with hart_on(site):
        await until(lambda: bench.listeners() == 1)
        bench.say(bench.direct(), "once")
        await bench.wait_until_heard()
        for _ in range(2):
            bench.deliver_again()
            await bench.wait_until_heard()
        bench.say(bench.another_chat(), "and again")
        await until(lambda: len(bench.seen()) == 2)

    assert sorted(message.text for message in bench.seen()) == ["answer to: and again", "answer to: once"]
    assert len(openai.accepted) == 2


async def test_of_a_file_too_large_the_model_is_told_and_its_words_are_answered(
    bench: PlatformBench, site: Site, openai: OpenAIEmulator
) -> None:
    openai.responder = lambda request: Reply(request.last_user_text)
    async with hart_on(site):
        await until(lambda: bench.listeners() == 1)
        bench.send_file(bench.direct(), "large.bin", bytes(1024 * 1024 + 1), "please read")
        await until(lambda: "large.bin could not be fetched" in "".join(one.text for one in bench.seen()))

    said = "\n".join(message.text for message in bench.seen())
    assert "please read" in said
    assert "too large: at most 1 MB" in said


async def test_of_a_file_that_cannot_be_sent_people_are_told_in_its_place(
    bench: PlatformBench, site: Site, openai: OpenAIEmulator
) -> None:
    def model(request: ChatRequest) -> Reply:
        paths = [f"/mnt/user-data/outputs/{name}" for name in ("empty.txt", "full.txt")]
        done = len(request.tool_results())
        if done < 2:
            return Reply(calls=(Call("write_file", {"path": paths[done], "content": "x" * done}),))
        return Reply(calls=(Call("present_files", {"paths": paths}),)) if done == 2 else Reply("Here.")

    openai.responder = model
    async with hart_on(site):
        await until(lambda: bench.listeners() == 1)
        bench.say(bench.direct(), "make two files")
        await until(lambda: len(bench.seen()) == 3)

    answer, told, file = bench.seen()
    assert (answer.text, file.file_name, file.data) == ("Here.", "full.txt", b"x")
    assert told.file_name is None
    assert told.text.startswith("I could not send you empty.txt: the file is empty")
