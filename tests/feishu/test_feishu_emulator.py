"""The emulated Feishu keeps the platform's rules, so that what passes here can pass there."""

import json

import aiohttp
import pytest

from tests.emulators.feishu import FeishuEmulator

CARD = {"schema": "2.0", "body": {"elements": [{"tag": "markdown", "content": "hi"}]}}


class Bot:
    """A bot that makes plain requests."""

    def __init__(self, fs, http):
        self.fs, self.http, self.token = fs, http, ""

    async def log_in(self, secret=None):
        path = "/open-apis/auth/v3/tenant_access_token/internal"
        body = {"app_id": self.fs.app_id, "app_secret": secret or self.fs.app_secret}
        answer = await self.ask("POST", path, body)
        self.token = answer.get("tenant_access_token", "")
        return answer

    async def ask(self, method, path, body=None, **query):
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        async with self.http.request(
            method, self.fs.base_url + path, json=body, params=query, headers=headers
        ) as response:
            return await response.json()

    async def post(self, chat, kind="text", content=None, **more):
        body = {
            "receive_id": chat.id,
            "msg_type": kind,
            "content": json.dumps({"text": "hi"} if content is None else content, ensure_ascii=False),
        }
        return await self.ask("POST", "/open-apis/im/v1/messages", body | more, receive_id_type="chat_id")


@pytest.fixture
async def bot(fs):
    async with aiohttp.ClientSession() as http:
        one = Bot(fs, http)
        await one.log_in()
        yield one


async def test_only_the_right_secret_gets_a_token_and_only_a_token_gets_in(fs, chat):
    async with aiohttp.ClientSession() as http:
        stranger = Bot(fs, http)
        assert (await stranger.post(chat))["code"] == 99991661
        assert (await stranger.log_in("wrong"))["code"] == 10014
        stranger.token = "t-made-up"
        assert (await stranger.post(chat))["code"] == 99991663


async def test_a_token_ends_after_two_hours(fs, chat, bot):
    now = fs.now()
    fs.now = lambda: now + 7100
    assert (await bot.post(chat))["code"] == 0
    fs.now = lambda: now + 7300
    assert (await bot.post(chat))["code"] == 99991663


async def test_a_message_can_be_read_back(fs, chat, bot):
    sent = (await bot.post(chat))["data"]
    read = await bot.ask("GET", f"/open-apis/im/v1/messages/{sent['message_id']}")

    assert read["data"]["items"][0]["body"] == {"content": '{"text": "hi"}'}
    assert read["data"]["items"][0]["sender"]["id"] == fs.app_id


async def test_the_same_uuid_is_one_message_for_an_hour(fs, chat, bot):
    now = fs.now()
    fs.now = lambda: now
    first = (await bot.post(chat, uuid="u1"))["data"]["message_id"]
    fs.now = lambda: now + 3500
    assert (await bot.post(chat, uuid="u1"))["data"]["message_id"] == first
    fs.now = lambda: now + 3700
    assert (await bot.post(chat, uuid="u1"))["data"]["message_id"] != first


@pytest.mark.parametrize(
    ("kind", "content", "more", "code"),
    [
        ("text", {"text": " "}, {}, 230001),
        ("text", {"text": "x" * 160_000}, {}, 230025),
        ("post", {"zh_cn": {}}, {}, 230001),
        ("post", {"zh_cn": {"content": [[{"tag": "md", "text": "x" * 31_000}]]}}, {}, 230025),
        ("interactive", {"elements": []}, {}, 230099),
        ("interactive", {"schema": "2.0", "body": {"elements": [{}]}}, {}, 230099),
        ("file", {"file_key": "made-up"}, {}, 230001),
        ("new_kind", {}, {}, 230001),
        ("text", [], {}, 230001),
        ("text", None, {"uuid": "u" * 51}, 99992402),
        ("text", None, {"receive_id": "oc_unknown"}, 230001),
        ("text", None, {"msg_type": None}, 99992402),
    ],
)
async def test_what_breaks_the_rules_is_refused(kind, content, more, code, fs, chat, bot):
    assert (await bot.post(chat, kind, content, **more))["code"] == code
    assert fs.sent == []


async def test_a_card_takes_five_tables(chat, bot):
    table = "| a |\n|---|\n| 1 |\n\n"
    for tables, code in ((5, 0), (6, 230099)):
        card = {"schema": "2.0", "body": {"elements": [{"tag": "markdown", "content": table * tables}]}}
        assert (await bot.post(chat, "interactive", card))["code"] == code


async def test_the_twenty_first_edit_is_refused(fs, chat, bot):
    message_id = (await bot.post(chat))["data"]["message_id"]
    path = f"/open-apis/im/v1/messages/{message_id}"
    codes = []
    for number in range(21):
        body = {"msg_type": "text", "content": json.dumps({"text": f"v{number}"})}
        codes.append((await bot.ask("PUT", path, body))["code"])

    assert codes == [0] * 20 + [230072]
    assert fs.messages[message_id].content == '{"text": "v19"}'


async def test_cards_are_changed_by_patch_and_texts_are_not(chat, bot):
    card = (await bot.post(chat, "interactive", CARD))["data"]["message_id"]
    text = (await bot.post(chat))["data"]["message_id"]
    body = {"content": json.dumps(CARD)}

    assert (await bot.ask("PATCH", f"/open-apis/im/v1/messages/{card}", body))["code"] == 0
    assert (await bot.ask("PATCH", f"/open-apis/im/v1/messages/{text}", body))["code"] == 230001


async def test_only_ones_own_messages_can_be_changed(fs, chat, ann, bot):
    theirs = fs.say(chat, ann, "mine", push=False)
    body = {"msg_type": "text", "content": json.dumps({"text": "yours"})}

    assert (await bot.ask("PUT", f"/open-apis/im/v1/messages/{theirs.id}", body))["code"] == 230071


async def test_a_thread_has_one_id_and_every_answer_in_it_names_its_root(fs, ann):
    group = fs.group("Ops")
    root = fs.say(group, ann, "root", push=False)
    first = fs.say(group, ann, "one", reply_to=root.id, in_thread=True, push=False)
    second = fs.say(group, ann, "two", reply_to=first.id, push=False)

    assert first.thread_id == second.thread_id
    assert (second.root_id, second.parent_id) == (root.id, first.id)


async def test_an_endpoint_address_is_good_once(fs, bot):
    body = {"AppID": fs.app_id, "AppSecret": fs.app_secret}
    url = (await bot.ask("POST", "/callback/ws/endpoint", body))["data"]["URL"]
    async with bot.http.ws_connect(url):
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await bot.http.ws_connect(url)

    assert caught.value.headers["Handshake-Status"] == "514"
    assert (await bot.ask("POST", "/callback/ws/endpoint", {"AppID": fs.app_id}))["code"] == 1000040344


async def test_an_event_that_is_never_taken_is_tried_five_times_and_then_lost(fs, chat, ann, bot):
    fs.redelivery, fs.ack_seconds = (0.01, 0.01, 0.01, 0.01), 0.02
    body = {"AppID": fs.app_id, "AppSecret": fs.app_secret}
    url = (await bot.ask("POST", "/callback/ws/endpoint", body))["data"]["URL"]
    async with bot.http.ws_connect(url):
        await fs.wait_until_connected()
        fs.say(chat, ann, "hello?")
        await fs.wait_for(lambda: fs.deliveries[0].lost)

    assert fs.deliveries[0].codes == [0] * 5


async def test_people_can_write_from_outside_of_the_process():
    async with FeishuEmulator() as fs, aiohttp.ClientSession() as http:
        async with http.post(f"{fs.base_url}/control/say", json={"name": "Ann", "text": "hi"}) as answer:
            said = await answer.json()
        async with http.get(f"{fs.base_url}/control/sent") as answer:
            assert await answer.json() == []

    assert fs.messages[said["message_id"]].chat.type == "p2p"
