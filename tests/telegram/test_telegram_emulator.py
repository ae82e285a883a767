"""The emulator keeps the rules of the real Bot API that the channel relies on."""

import asyncio
import signal
import sys

import httpx
import pytest


@pytest.fixture
async def http(tg):
    async with httpx.AsyncClient(base_url=f"{tg.base_url}/bot{tg.token}/") as client:
        yield client


@pytest.fixture
def chat(tg):
    return tg.private_chat(tg.user(501, "Ann"))


async def poll(http, **params):
    answer = (await http.get("getUpdates", params=params)).json()
    return [update["message"]["text"] for update in answer["result"]]


async def test_an_offset_acknowledges_all_updates_before_it(tg, http, chat):
    for text in "abc":
        tg.say(chat, tg.users[501], text)
    first_id = tg.updates[0][0]

    assert await poll(http) == ["a", "b", "c"]
    assert await poll(http, limit=2) == ["a", "b"]
    assert await poll(http, offset=first_id + 1) == ["b", "c"]
    assert await poll(http) == ["b", "c"]
    assert await poll(http, offset=first_id + 3) == []


async def test_a_negative_offset_keeps_only_the_newest(tg, http, chat):
    for text in "abc":
        tg.say(chat, tg.users[501], text)

    assert await poll(http, offset=-1) == ["c"]
    assert await poll(http) == ["c"]


async def test_a_long_poll_returns_as_soon_as_someone_writes(tg, http, chat):
    waiting = asyncio.create_task(poll(http, timeout=30))
    await tg.wait_for(lambda: tg.count("getUpdates") == 1)
    tg.say(chat, tg.users[501], "now")

    assert await asyncio.wait_for(waiting, 3) == ["now"]


async def test_a_second_poll_ends_the_first(tg, http):
    waiting = asyncio.create_task(http.get("getUpdates", params={"timeout": 30}))
    await tg.wait_for(lambda: tg.count("getUpdates") == 1)
    second = await http.get("getUpdates")

    assert (await waiting).status_code == 409
    assert second.status_code == 200


@pytest.mark.parametrize("encoding", ["json", "data", "params", "multipart"])
async def test_parameters_come_in_every_encoding(encoding, tg, http, chat):
    params = {"chat_id": "501", "text": "hi"}
    given = (
        {"files": {key: (None, value) for key, value in params.items()}} if encoding == "multipart" else {}
    )
    answer = await http.post("sendMessage", **(given or {encoding: params}))

    assert answer.json()["result"]["text"] == "hi"
    assert [sent.text for sent in tg.sent] == ["hi"]


@pytest.mark.parametrize(
    ("method", "params", "code", "description"),
    [
        ("sendMessage", {"chat_id": 501, "text": " \n "}, 400, "message text is empty"),
        ("sendMessage", {"chat_id": 501, "text": "😀" * 2049}, 400, "message is too long"),
        ("sendMessage", {"chat_id": 999, "text": "x"}, 400, "chat not found"),
        ("sendMessage", {"chat_id": 501, "text": "x", "message_thread_id": 1}, 400, "thread not found"),
        ("sendMessage", {"chat_id": 501, "text": "x", "parse_mode": "RTF"}, 400, "parse_mode"),
        ("sendMessage", {"chat_id": 501, "text": "x", "reply_parameters": "{"}, 400, "can't parse"),
        (
            "sendMessage",
            {"chat_id": 501, "text": "x", "reply_parameters": '{"message_id":5}'},
            400,
            "replied",
        ),
        ("sendDocument", {"chat_id": 501}, 400, "no document"),
        ("editMessageText", {"chat_id": 501, "message_id": 5, "text": "x"}, 400, "not found"),
        ("getFile", {"file_id": "nope"}, 400, "file_id"),
        ("noSuchMethod", {}, 404, "Not Found"),
    ],
)
async def test_what_telegram_refuses_is_refused(method, params, code, description, http, chat):
    answer = await http.post(method, json=params)

    assert answer.status_code == code
    assert answer.json()["error_code"] == code
    assert description in answer.json()["description"]


async def test_only_the_bots_own_messages_can_be_edited_and_only_to_something_new(tg, http, chat):
    theirs = tg.say(chat, tg.users[501], "mine")
    ours = (await http.post("sendMessage", json={"chat_id": 501, "text": "one"})).json()["result"]
    edit = {"chat_id": 501, "message_id": ours["message_id"]}

    assert ours["message_id"] == theirs["message_id"] + 1
    assert "not modified" in (await http.post("editMessageText", json=edit | {"text": "one"})).text
    assert (await http.post("editMessageText", json=edit | {"text": "two"})).status_code == 200
    assert tg.messages[501, ours["message_id"]]["text"] == "two"
    refused = await http.post(
        "editMessageText", json=edit | {"message_id": theirs["message_id"], "text": "x"}
    )
    assert "can't be edited" in refused.text


async def test_the_state_outlives_an_outage(tg, http, chat):
    tg.say(chat, tg.users[501], "before")
    async with tg.offline():
        with pytest.raises(httpx.ConnectError):
            await http.get("getMe")

    assert await poll(http) == ["before"]


async def test_it_runs_by_itself_and_is_steered_over_http():
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.emulators.telegram", stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        _, base_url, _, token = (await asyncio.wait_for(process.stdout.readline(), 20)).decode().split()
        async with httpx.AsyncClient(base_url=base_url) as client:
            said = await client.post("/control/say", json={"user_id": 7, "name": "Ann", "text": "hi"})
            heard = (await client.get(f"/bot{token}/getUpdates")).json()["result"]
            await client.post(f"/bot{token}/sendMessage", json={"chat_id": 7, "text": "hello"})
            sent = (await client.get("/control/sent")).json()
    finally:
        process.send_signal(signal.SIGTERM)
        await process.wait()

    assert heard[0]["message"] == said.json()
    assert [(message["chat_id"], message["text"]) for message in sent] == [(7, "hello")]
    assert process.returncode == 0
