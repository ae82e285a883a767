"""Files that people send along."""

import re

from agent_core.paths import OUTPUTS
from tests.emulators.openai import Call, ChatRequest, OpenAIEmulator, Reply
from tests.emulators.telegram import Refuse, TelegramEmulator
from tests.engine.people import Person
from tests.hart import Site, hart_on

UPLOADED = re.compile(r"- (/mnt/user-data/uploads/\S+) \((\d+) bytes, ([^)]+)\)")


def reader(request: ChatRequest) -> Reply:
    """Read every file of the message and say what is in them."""
    paths = [found[0] for found in UPLOADED.findall(request.last_user_text)]
    results = request.tool_results()
    if paths and not results:
        return Reply(calls=tuple(Call("read_file", {"path": path}) for path in paths))
    return Reply(" | ".join(results) or "no file")


async def test_a_file_can_be_read_by_the_model(
    open_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
) -> None:
    openai.responder = reader
    async with hart_on(open_site):
        telegram.send_document(
            ada.chat, ada.user, "notes.txt", b"buy milk", mime="text/plain", caption="what is in it?"
        )
        assert await ada.hears(1) == ["buy milk"]
    asked = openai.accepted[0].said[-1]
    assert asked.startswith("what is in it?")
    assert UPLOADED.findall(asked) == [("/mnt/user-data/uploads/notes.txt", "8", "text/plain")]


async def test_a_file_without_text_is_a_message(
    sqlite_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
) -> None:
    openai.responder = reader
    async with hart_on(sqlite_site):
        telegram.send_document(ada.chat, ada.user, "notes.txt", b"buy milk")
        assert await ada.hears(1) == ["buy milk"]


async def test_two_files_of_one_name_stay_two_files(
    open_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
) -> None:
    openai.responder = reader
    async with hart_on(open_site):
        telegram.send_document(ada.chat, ada.user, "notes.txt", b"first")
        telegram.send_document(ada.chat, ada.user, "notes.txt", b"second")
        assert await ada.hears(2) == ["first", "second"]
    first, second = (UPLOADED.findall(openai.accepted[number].said[-1])[0][0] for number in (0, 2))
    assert first == "/mnt/user-data/uploads/notes.txt"
    assert re.fullmatch(r"/mnt/user-data/uploads/notes-[\d-]+\.txt", second)


async def test_a_hostile_name_stays_in_the_folder(
    sqlite_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
) -> None:
    openai.responder = reader
    async with hart_on(sqlite_site):
        telegram.send_document(ada.chat, ada.user, "../../../outside\x00\n<context>.txt", b"data")
        assert await ada.hears(1) == ["data"]
    (found,) = (sqlite_site.home / "threads").glob("*/uploads/*")
    assert found.read_bytes() == b"data"


async def test_a_file_that_cannot_be_fetched_is_told_and_the_text_is_not_lost(
    open_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
) -> None:
    openai.responder = lambda request: Reply(request.last_user_text)
    telegram.faults.add("getFile", Refuse(400, "Bad Request: wrong file_id"))
    async with hart_on(open_site):
        telegram.send_document(ada.chat, ada.user, "lost.txt", b"gone", caption="please read")
        (heard,) = await ada.hears(1)
    assert heard.startswith("please read\n\n<context>\nlost.txt could not be fetched: ")
    assert "Uploaded files" not in heard


async def test_one_file_that_fails_does_not_take_the_next_message_with_it(
    sqlite_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
) -> None:
    openai.responder = reader
    sqlite_site.config["limits"] = {"attachment_mb": 1}
    async with hart_on(sqlite_site):
        telegram.send_document(ada.chat, ada.user, "big.txt", b"x" * (1 << 20) + b"x")
        telegram.send_document(ada.chat, ada.user, "small.txt", b"fits")
        assert await ada.hears(2) == ["no file", "fits"]
    asked = openai.accepted[0].said[-1]
    assert "big.txt could not be fetched: " in asked


async def test_a_presented_file_that_is_gone_in_the_end_is_told_and_the_answer_is_not_lost(
    sqlite_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
) -> None:
    def answer(request: ChatRequest) -> Reply:
        match len(request.tool_results()):
            case 0:
                return Reply(calls=(Call("write_file", {"path": f"{OUTPUTS}/a.txt", "content": "x"}),))
            case 1:
                return Reply(calls=(Call("present_files", {"paths": [f"{OUTPUTS}/a.txt"]}),))
        # As a program in a sandbox could do it.
        for folder in (sqlite_site.home / "threads").glob("*/outputs"):
            (folder / "a.txt").unlink()
            (folder / "a.txt").symlink_to("/etc/passwd")
        return Reply("Here it is.")

    openai.responder = answer
    async with hart_on(sqlite_site):
        ada.says("a file, please")
        assert await ada.hears(1) == ["Here it is.\n\n(No longer there, so not sent: a.txt.)"]
    assert not list((sqlite_site.home / "outbox").rglob("*.txt"))
