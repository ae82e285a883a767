"""The emulator keeps the rules of the real Slack that the channel relies on."""

import asyncio
import json
import signal
import sys

import aiohttp
import httpx
import pytest

from tests.emulators.slack import APP_TOKEN


@pytest.fixture
async def http(slack):
    headers = {"Authorization": f"Bearer {slack.bot_token}"}
    async with httpx.AsyncClient(base_url=slack.base_url, headers=headers) as client:
        yield client


async def link(slack, session):
    async with session.post(
        f"{slack.base_url}apps.connections.open", headers={"Authorization": f"Bearer {APP_TOKEN}"}
    ) as answer:
        url = (await answer.json())["url"]
    ws = await session.ws_connect(url)
    hello = await ws.receive_json()
    assert hello["type"] == "hello"
    return ws, url


@pytest.mark.parametrize("encoding", ["json", "data", "params"])
async def test_parameters_come_in_every_encoding(encoding, slack, ann, http):
    params = {"channel": slack.dm(ann).id, "text": "hi"}

    answer = (await http.post("chat.postMessage", **{encoding: params})).json()

    assert answer["ok"]
    assert answer["message"]["text"] == "hi"


@pytest.mark.parametrize(
    ("method", "params", "error"),
    [
        ("chat.postMessage", {"text": "x"}, "invalid_arguments"),
        ("chat.postMessage", {"channel": "C0NONE", "text": "x"}, "channel_not_found"),
        ("chat.postMessage", {"channel": "OPS", "text": " "}, "no_text"),
        ("chat.postMessage", {"channel": "OPS", "markdown_text": "x" * 12_001}, "msg_too_long"),
        ("chat.postMessage", {"channel": "OPS", "markdown_text": "x", "text": "x"}, "markdown_text_conflict"),
        ("chat.postMessage", {"channel": "OPS", "text": "x", "thread_ts": "soon"}, "invalid_thread_ts"),
        ("chat.update", {"channel": "OPS", "ts": "1.000001", "text": "x"}, "message_not_found"),
        ("reactions.add", {"channel": "OPS", "timestamp": "1.000001", "name": "eyes"}, "message_not_found"),
        ("reactions.add", {"channel": "OPS", "timestamp": "1.000001", "name": ":eyes:"}, "invalid_name"),
        ("users.info", {"user": "U0NONE"}, "user_not_found"),
        ("conversations.replies", {"channel": "OPS", "ts": "1.000001"}, "thread_not_found"),
        ("conversations.open", {"users": "U0NONE"}, "missing_scope"),
        ("files.getUploadURLExternal", {"filename": "x", "length": "0"}, "invalid_arguments"),
        ("files.completeUploadExternal", {"files": "[]"}, "invalid_arguments"),
        ("files.completeUploadExternal", {"files": '[{"id":"F0NONE"}]'}, "file_not_found"),
        ("files.info", {"file": "F0NONE"}, "file_not_found"),
        ("no.such.method", {}, "unknown_method"),
    ],
)
async def test_what_slack_refuses_is_refused(method, params, error, slack, http):
    ops = slack.channel("ops")
    params = {key: ops.id if value == "OPS" else value for key, value in params.items()}

    answer = await http.post(method, data=params)

    assert answer.status_code == 200
    assert answer.json()["ok"] is False
    assert answer.json()["error"] == error


async def test_methods_that_take_no_json_refuse_it(slack, ann, http):
    for method, params in (
        ("users.info", {"user": ann.id}),
        ("files.getUploadURLExternal", {"filename": "x", "length": 1}),
    ):
        assert (await http.post(method, json=params)).json()["error"] == "invalid_arguments"


async def test_each_token_is_good_for_its_own_methods(slack, http):
    app = {"Authorization": f"Bearer {slack.app_token}"}

    assert (await http.post("apps.connections.open")).json()["error"] == "not_allowed_token_type"
    assert (await http.post("auth.test", headers=app)).json()["error"] == "not_allowed_token_type"
    assert (await http.post("auth.test", headers={"Authorization": "Bearer x"})).json()[
        "error"
    ] == "invalid_auth"
    assert (await http.post("auth.test", headers={"Authorization": ""})).json()["error"] == "not_authed"


async def test_a_ticket_is_good_for_one_connection(slack):
    async with aiohttp.ClientSession() as session:
        ws, url = await link(slack, session)
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(url)
        await ws.close()


async def test_an_app_has_ten_sockets_and_one_of_them_gets_each_event(slack, ann):
    async with aiohttp.ClientSession() as session:
        sockets = [(await link(slack, session))[0] for _ in range(10)]
        eleventh, _ = await link(slack, session)
        assert (await eleventh.receive_json())["reason"] == "too_many_websockets"
        for number in range(10):
            slack.say(slack.dm(ann), ann, f"{number}")
        got = [json.loads((await ws.receive()).data)["payload"]["event"]["text"] for ws in sockets]
        for ws in sockets:
            await ws.close()

    assert sorted(got) == [f"{number}" for number in range(10)]


async def test_an_unconfirmed_event_comes_again_and_says_so(slack, ann):
    slack.deliveries.ack_seconds = 0.05
    slack.deliveries.retry_seconds = (0.0, 0.05, 0.05)
    async with aiohttp.ClientSession() as session:
        ws, _ = await link(slack, session)
        slack.say(slack.dm(ann), ann, "one")
        frames = [await ws.receive_json() for _ in range(4)]
        await slack.wait_until_heard()
        await ws.close()

    assert [frame["retry_attempt"] for frame in frames] == [0, 1, 2, 3]
    assert [frame["retry_reason"] for frame in frames] == ["", "timeout", "timeout", "timeout"]
    assert len({frame["payload"]["event_id"] for frame in frames}) == 1
    assert len({frame["envelope_id"] for frame in frames}) == 4
    assert slack.deliveries.envelopes[0].lost


async def test_messages_can_be_read_back(slack, ann, http):
    ops = slack.channel("ops")
    top = slack.say(ops, ann, "top")
    reply = {"channel": ops.id, "markdown_text": "reply", "thread_ts": top["ts"]}
    posted = (await http.post("chat.postMessage", json=reply)).json()

    replies = (await http.get("conversations.replies", params={"channel": ops.id, "ts": top["ts"]})).json()
    history = (await http.get("conversations.history", params={"channel": ops.id})).json()

    assert [one["text"] for one in replies["messages"]] == ["top", "reply"]
    assert [one["text"] for one in history["messages"]] == ["top"]
    assert replies["messages"][1]["ts"] == posted["ts"]
    assert replies["messages"][1]["parent_user_id"] == ann.id


async def test_a_file_needs_the_token_and_its_scope(slack, http):
    file = slack.store_file("a.bin", b"data")
    url = (await http.get("files.info", params={"file": file.id})).json()["file"]["url_private_download"]

    async with httpx.AsyncClient(follow_redirects=True) as stranger:
        page = await stranger.get(url)
    good = await http.get(url)

    assert (page.status_code, page.headers["content-type"]) == (200, "text/html")
    assert good.content == b"data"


async def test_it_runs_by_itself_and_is_steered_over_http():
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.emulators.slack", stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        said = (await asyncio.wait_for(process.stdout.readline(), 30)).decode().split()
        base_url, bot_token = said[1], said[3]
        origin = base_url.removesuffix("/api/")
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {bot_token}"}) as client:
            written = (await client.post(f"{origin}/control/say", json={"name": "Ann", "text": "hi"})).json()
            answer = {"channel": written["channel"], "markdown_text": "hello"}
            await client.post(f"{base_url}chat.postMessage", json=answer)
            sent = (await client.get(f"{origin}/control/sent")).json()
    finally:
        process.send_signal(signal.SIGTERM)
        await process.wait()

    assert [(message["channel"], message["text"]) for message in sent] == [(written["channel"], "hello")]
    assert process.returncode == 0
