"""Over HTTP, only what Slack has signed in the last five minutes is heard."""

import asyncio
import json
import logging
import socket
import time
from hashlib import sha256

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette

from tests.emulators.slack import SIGNING_SECRET, TEAM, HttpTarget, encode, signed
from tests.slack.asking import asking


@pytest.fixture
async def hall(build, inbox, listening):
    """A channel in HTTP mode behind a real server: its URL, and the channel."""
    clock = {"now": time.time()}
    channel = build(app_token=None, signing_secret=SIGNING_SECRET, now=lambda: clock["now"])
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(Starlette(routes=channel.routes()), log_config=None, lifespan="off", access_log=False)
    )
    task = asyncio.create_task(server.serve(sockets=[listener]))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/slack/main/events"
    yield url, channel, clock
    server.should_exit = True
    await task


def event(slack, ann, text="hi", ts="1796000000.000100"):
    home = slack.dm(ann)
    said = {
        "type": "message",
        "user": ann.id,
        "channel": home.id,
        "channel_type": "im",
        "ts": ts,
        "text": text,
    }
    return {"type": "event_callback", "team_id": TEAM, "event_id": "Ev0A1", "event": said}


async def post(url, body, headers):
    async with httpx.AsyncClient() as client:
        return await client.post(url, content=body, headers={"Content-Type": "application/json", **headers})


async def test_signed_events_commands_and_buttons_are_heard(slack, ann, hall, inbox, listening):
    url, channel, _ = hall
    slack.deliveries.target = HttpTarget(url, SIGNING_SECRET)
    async with listening(channel, connected=False):
        await slack.wait_for(lambda: slack.count("auth.test"))
        slack.say(slack.dm(ann), ann, "Good morning & hello")
        slack.say(slack.channel("ops"), ann, f"{slack.at} you there?")
        slack.command(slack.dm(ann), ann, "/hart", "status")
        await channel.send(asking(slack.dm(ann)))
        pressed = slack.press(slack.sent[0], "Two", ann)
        await inbox.wait_for(4)
        await slack.wait_until_heard()

    assert sorted(inbox.texts) == ["", "/status", "Good morning & hello", "you there?"]
    assert [message.action for message in inbox.messages if message.action] == ["b2"]
    assert pressed.acked
    assert slack.opened_sockets == 0


async def test_the_address_is_verified_as_slack_does_it(slack, hall, listening):
    url, channel, _ = hall
    body = json.dumps({"type": "url_verification", "token": "x", "challenge": "3eZbrw1a"}).encode()
    async with listening(channel, connected=False):
        await slack.wait_for(lambda: slack.count("auth.test"))
        answer = await _until_listening(url, body)
        refused = await post(url, body, {})

    assert answer.status_code == 200
    assert "3eZbrw1a" in answer.text
    assert refused.status_code == 401


async def _until_listening(url, body):
    for _ in range(500):
        answer = await post(url, body, signed(body, SIGNING_SECRET, time.time()))
        if answer.status_code != 503:
            return answer
        await asyncio.sleep(0.01)
    raise AssertionError("it does not begin to listen")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda headers: {},
        lambda headers: headers | {"X-Slack-Signature": "v0=" + "0" * 64},
        lambda headers: headers | {"X-Slack-Signature": ""},
        lambda headers: headers | {"X-Slack-Request-Timestamp": str(int(time.time()) - 1)},
        lambda headers: headers | {"X-Slack-Request-Timestamp": "now"},
        lambda headers: headers | {"X-Slack-Request-Timestamp": "9" * 5000},
        lambda headers: {"X-Slack-Signature": headers["X-Slack-Signature"]},
    ],
)
async def test_what_slack_has_not_signed_gets_nothing_done(spoil, slack, ann, hall, inbox, listening):
    url, channel, _ = hall
    body = json.dumps(event(slack, ann)).encode()
    async with listening(channel, connected=False):
        await _until_listening(url, b'{"type":"url_verification","challenge":"x"}')
        answer = await post(url, body, spoil(signed(body, SIGNING_SECRET, time.time())))

    assert answer.status_code == 401
    assert inbox.rows == {}


async def test_a_flood_of_unsigned_requests_is_a_line_a_minute(hall, seconds, caplog):
    url, *_ = hall

    async def flood(count):
        caplog.clear()
        for _ in range(count):
            assert (await post(url, b"{}", {})).status_code == 401
        return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]

    first = await flood(5)
    seconds.now += 59.75
    within = await flood(5)
    seconds.now += 0.25
    after = await flood(5)
    seconds.now += 60
    later = await flood(1)

    assert first == ["slack/main: refused an HTTP request without a good signature"]
    assert within == []
    assert after == ["slack/main: refused 10 HTTP requests without a good signature since the last such line"]
    assert later == ["slack/main: refused 5 HTTP requests without a good signature since the last such line"]


async def test_a_body_that_was_changed_or_is_no_text_is_refused(slack, ann, hall, inbox, listening):
    url, channel, _ = hall
    body = json.dumps(event(slack, ann)).encode()
    good = signed(body, SIGNING_SECRET, time.time())
    async with listening(channel, connected=False):
        await _until_listening(url, b'{"type":"url_verification","challenge":"x"}')
        changed = await post(url, body.replace(b"hi", b"ho"), good)
        binary = await post(url, b"\xff\xfe", signed(b"\xff\xfe", SIGNING_SECRET, time.time()))
        huge = await post(url, b"x" * 1_100_000, good)

    assert [answer.status_code for answer in (changed, binary, huge)] == [401, 401, 413]
    assert inbox.rows == {}


async def test_a_request_is_good_for_five_minutes(slack, ann, hall, inbox, listening):
    url, channel, clock = hall
    body = json.dumps(event(slack, ann)).encode()
    headers = signed(body, SIGNING_SECRET, time.time())
    async with listening(channel, connected=False):
        await _until_listening(url, b'{"type":"url_verification","challenge":"x"}')
        clock["now"] = time.time() + 295
        first = await post(url, body, headers)
        clock["now"] = time.time() + 305
        late = await post(url, body, headers)
        clock["now"] = time.time() - 305
        early = await post(url, body, headers)

    assert [answer.status_code for answer in (first, late, early)] == [200, 401, 401]
    assert inbox.texts == ["hi"]


async def test_a_replay_within_the_time_is_one_message(slack, ann, hall, inbox, listening):
    url, channel, _ = hall
    body = json.dumps(event(slack, ann)).encode()
    headers = signed(body, SIGNING_SECRET, time.time())
    async with listening(channel, connected=False):
        await _until_listening(url, b'{"type":"url_verification","challenge":"x"}')
        answers = [await post(url, body, headers) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200] * 3
    assert inbox.texts == ["hi"]


async def test_while_the_channel_does_not_listen_slack_is_told_to_come_again(slack, ann, hall, inbox):
    url, _, _ = hall
    body = json.dumps(event(slack, ann)).encode()

    answer = await post(url, body, signed(body, SIGNING_SECRET, time.time()))

    assert answer.status_code == 503
    assert inbox.rows == {}


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b"{", b"[" * 100_000, b"7", b'{"event": 3}'])
async def test_signed_nonsense_does_no_harm(body, slack, ann, hall, inbox, listening):
    url, channel, _ = hall
    async with listening(channel, connected=False):
        await _until_listening(url, b'{"type":"url_verification","challenge":"x"}')
        answer = await post(url, body, signed(body, SIGNING_SECRET, time.time()))
        good = json.dumps(event(slack, ann)).encode()
        await post(url, good, signed(good, SIGNING_SECRET, time.time()))

    assert answer.status_code == 200
    assert inbox.texts == ["hi"]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"token": "Zq7token", "response_url": "https://hooks.example/secretpath"', "application/json"),
        (b'payload={"token":"Zq7token","response_url":"secretpath"', "application/x-www-form-urlencoded"),
    ],
)
async def test_of_what_bolt_cannot_read_only_a_digest_is_kept(
    body, kind, slack, hall, inbox, listening, caplog
):
    url, channel, _ = hall
    headers = {**signed(body, SIGNING_SECRET, time.time()), "Content-Type": kind}
    async with listening(channel, connected=False):
        await _until_listening(url, b'{"type":"url_verification","challenge":"x"}')
        answers = [await post(url, body, headers) for _ in range(2)]

    (row,) = inbox.rejected
    assert [answer.status_code for answer in answers] == [200, 200]
    assert json.loads(row.raw) == {"bytes": len(body), "sha256": sha256(body).hexdigest()}
    assert row.reason == "broke its handling: JSONDecodeError"
    for secret in ("Zq7token", "secretpath"):
        assert secret not in str(row)
        assert secret not in caplog.text


async def test_a_form_is_read_as_slack_writes_it(slack, ann, hall, inbox, listening):
    url, channel, _ = hall
    command = slack.command(slack.dm(ann), ann, "/hart", "new a & b = c")
    body, kind = encode("slash_commands", command.payload)
    async with listening(channel, connected=False):
        await _until_listening(url, b'{"type":"url_verification","challenge":"x"}')
        answer = await post(url, body, {**signed(body, SIGNING_SECRET, time.time()), "Content-Type": kind})

    assert answer.status_code == 200
    assert inbox.texts == ["/new a & b = c"]


def test_socket_mode_has_no_routes_and_one_secret_is_needed(build):
    assert build().routes() == []
    with pytest.raises(ValueError, match="signing secret"):
        build(app_token=None)
