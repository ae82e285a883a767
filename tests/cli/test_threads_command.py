"""``hart threads``."""

import json
from pathlib import Path

import httpx
import pytest

from tests.cli.process import Outcome, run_hart, service
from tests.emulators.openai import Call, ChatRequest, Fault, OpenAIEmulator, Reply
from tests.hart import Site, hart_on, local_client

NOTE = "/mnt/user-data/outputs/note.md"


def writes_a_note(request: ChatRequest) -> Reply:
    done = len(request.tool_results())
    if request.last_user_text != "note" or done == 2:
        return Reply(f"answer to: {request.last_user_text}")
    if done == 0:
        return Reply(calls=(Call("write_file", {"path": NOTE, "content": "milk"}),))
    return Reply(calls=(Call("present_files", {"paths": [NOTE]}),))


@pytest.fixture
def site(site: Site, openai: OpenAIEmulator) -> Site:
    openai.responder = writes_a_note
    site.use_openai(openai)
    site.config["limits"] = {"model_retries": 0, "drain_seconds": 0}
    return site


async def threads(site: Site, *arguments: str, stdin: bytes = b"") -> Outcome:
    return await run_hart(site, "threads", *arguments, stdin=stdin)


async def listed(site: Site) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads((await threads(site, "list", "--json")).out)
    return found


async def test_conversations_are_listed_read_taken_out_and_deleted(site: Site, tmp_path: Path) -> None:
    assert (await threads(site, "list")).out == "There are no conversations.\n"
    await run_hart(site, "chat", "-m", "note", "--thread", "one")
    await run_hart(site, "chat", "-m", "hello", "--thread", "two")
    two, one = await listed(site)
    assert (one["title"], one["channel"], one["chat"], one["messages"]) == ("note", "console", "one", 1)
    assert two["title"] == "hello"
    assert int(str(one["tokens"])) > 0
    lines = (await threads(site, "list")).out.splitlines()
    assert lines[2].startswith(f"{str(one['id'])[:8]}  ")
    assert lines[2].endswith("console one  note")

    shown = await threads(site, "show", str(one["id"])[:8])
    assert shown.code == 0
    for part in ("note", "**Hart** (done)\n\nanswer to: note", "- file: note.md"):
        assert part in shown.out

    target = tmp_path / "taken"
    taken = await threads(site, "export", str(one["id"]), "--to", str(target))
    assert taken.out == f"Wrote 1 messages and 1 files to {target}.\n"
    assert (target / "files" / "outputs" / "note.md").read_text() == "milk"
    assert "answer to: note" in (target / "conversation.md").read_text()
    assert json.loads((target / "conversation.json").read_text())["exchanges"][0]["files"] == ["note.md"]
    again = await threads(site, "export", str(one["id"]), "--to", str(target))
    assert (again.code, again.out) == (2, "")

    kept = await threads(site, "delete", str(one["id"]), stdin=b"n\n")
    assert kept.code == 1
    assert len(await listed(site)) == 2
    gone = await threads(site, "delete", str(one["id"]), "--yes")
    assert gone.out == f"Deleted {str(one['id'])[:8]}.\n"
    assert [thread["id"] for thread in await listed(site)] == [two["id"]]
    assert not (site.home / "threads" / str(one["id"])).exists()
    assert [path for path in (site.home / "outbox").rglob("*") if path.is_file()] == []


async def test_a_deleted_conversation_begins_anew_and_knows_nothing(
    site: Site, openai: OpenAIEmulator
) -> None:
    await run_hart(site, "chat", "-m", "the password is zanzibar")
    (thread,) = await listed(site)
    await threads(site, "delete", str(thread["id"]), "--yes")
    answered = await run_hart(site, "chat", "-m", "hello again")
    assert answered.code == 0
    assert "zanzibar" not in openai.requests[-1].body.decode().partition('"messages"')[2]
    (anew,) = await listed(site)
    assert (anew["title"], anew["messages"]) == ("hello again", 1)


async def test_nothing_is_deleted_while_something_is_open(site: Site, openai: OpenAIEmulator) -> None:
    async with service(site):
        await run_hart(site, "chat", "-m", "hello")
        openai.fail(Fault.hang())
        await run_hart(site, "chat", "-m", "slow", "--timeout", "0.1")
        await openai.wait_for(lambda: len(openai.requests) == 2)
        (thread,) = await listed(site)
        refused = await threads(site, "delete", str(thread["id"]), "--yes")
        shown = await threads(site, "show", str(thread["id"]))
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("hart: Something is open in this conversation")
    assert "hello" in shown.out


async def test_an_id_that_is_none_is_one_line(site: Site) -> None:
    await run_hart(site, "chat", "-m", "hello", "--thread", "one")
    for wrong in ("zzzz", "../x"):
        refused = await threads(site, "show", wrong)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.count("\n") == 1


async def test_the_token_of_the_page_does_not_open_everybodys_conversations(site: Site) -> None:
    token = "page-token-0123456789"
    site.config["server"] = {"port": 0, "token": token}
    async with hart_on(site) as hart, local_client(hart), httpx.AsyncClient(base_url=hart.url) as http:
        page = {"Authorization": f"Bearer {token}"}
        assert (await http.get("/api/tasks", headers=page)).status_code == 200
        assert (await http.get("/api/threads", headers=page)).status_code == 403
        assert (await http.get("/api/threads")).status_code in (401, 403)
        ours = {"Authorization": f"Bearer {hart.local_token}"}
        assert (await http.get("/api/threads", headers=ours)).status_code == 200
