from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.datastructures import Headers

from channels.web.security import WebSecurity, host_name, refusal, same_origin
from channels.web.session import SESSION_SECONDS, TryLimit, new_session, session_valid
from tests.web.local_hall import LocalServer, local_server

TOKEN = "correct horse battery staple"
LOCAL = "local-token-of-this-process"
MESSAGES = "/api/chats/web/main/messages"
BODY = {"text": "hi", "message_id": "m1"}


@pytest.fixture
async def locked(tmp_path: Path) -> AsyncIterator[LocalServer]:
    security = WebSecurity(
        allowed_hosts=frozenset({"hart.example.org"}),
        token=TOKEN,
        local_token=LOCAL,
        open_paths=frozenset({"/healthz"}),
    )
    async with local_server(tmp_path, security) as running:
        assert running.app is not None
        running.app.add_api_route("/healthz", lambda: {"ok": True})
        running.app.add_api_route("/tasks", lambda: {"tasks": []})
        yield running


def client(server: LocalServer, **headers: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=server.url, trust_env=False, headers={"x-hart": "1", **headers})


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("localhost", "localhost"),
        ("LOCALHOST:8765", "localhost"),
        ("localhost.:80", "localhost"),
        ("127.0.0.1:8765", "127.0.0.1"),
        ("[::1]:8765", "::1"),
        ("evil.example", "evil.example"),
        ("127.0.0.1.evil.example", "127.0.0.1.evil.example"),
        ("127.0.0.1@evil.example", None),
        ("evil.example/127.0.0.1", None),
        ("localhost:port", None),
        ("localhost:99999", None),
        ("[::1", None),
        ("localhost evil", None),
        ("", None),
    ],
)
def test_host_names_are_read_as_browsers_read_them(host: str, name: str | None) -> None:
    assert host_name(host) == name


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [
        ("http://localhost:8765", "localhost:8765", True),
        ("http://localhost", "localhost:80", True),
        ("https://hart.example.org", "hart.example.org", True),
        ("http://LOCALHOST:8765", "localhost:8765", True),
        ("http://localhost:3000", "localhost:8765", False),
        ("http://127.0.0.1:8765", "localhost:8765", False),
        ("http://localhost:8765.evil.example", "localhost:8765", False),
        ("file://localhost:8765", "localhost:8765", False),
        ("null", "localhost:8765", False),
        ("", "localhost:8765", False),
    ],
)
def test_only_the_same_origin_is_the_same(origin: str, host: str, same: bool) -> None:
    assert same_origin(origin, host) is same


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {"host": "localhost:1"}, None),
        ("POST", {"host": "localhost:1", "x-hart": "1"}, None),
        ("POST", {"host": "localhost:1", "x-hart": "1", "origin": "http://localhost:1"}, None),
        ("GET", {"host": "evil.example"}, 421),
        ("GET", {}, 421),
        ("POST", {"host": "localhost:1"}, 403),
        ("DELETE", {"host": "localhost:1"}, 403),
        ("POST", {"host": "localhost:1", "x-hart": "1", "origin": "http://evil.example"}, 403),
        ("POST", {"host": "localhost:1", "x-hart": "1", "origin": "http://localhost:2"}, 403),
        ("POST", {"host": "localhost:1", "x-hart": "1", "origin": "null"}, 403),
        ("POST", {"host": "localhost:1", "x-hart": "1", "sec-fetch-site": "same-site"}, 403),
        ("GET", {"host": "localhost:1", "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, 403),
        ("GET", {"host": "localhost:1", "sec-fetch-site": "same-site", "sec-fetch-mode": "cors"}, 403),
        ("GET", {"host": "localhost:1", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, None),
        ("POST", {"host": "localhost:1", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 403),
    ],
)
def test_requests_of_other_sites_are_refused(
    method: str, headers: dict[str, str], status: int | None
) -> None:
    refused = refusal(method, Headers(headers), WebSecurity())
    assert (refused.status if refused else None) == status


def test_two_host_headers_are_refused() -> None:
    doubled = Headers(raw=[(b"host", b"localhost"), (b"host", b"evil.example")])
    refused = refusal("GET", doubled, WebSecurity())
    assert refused is not None
    assert refused.status == 421


async def test_a_rebound_name_reaches_nothing(server: LocalServer) -> None:
    async with client(server, host="rebound.example") as http:
        for answer in (await http.get("/"), await http.get(MESSAGES), await http.post(MESSAGES, json=BODY)):
            assert answer.status_code == 421
    assert server.hall.accepted == []


async def test_a_form_of_another_site_posts_nothing(server: LocalServer) -> None:
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as http:
        answer = await http.post(MESSAGES, data=BODY, headers={"origin": "http://evil.example"})
        assert answer.status_code == 403
        answer = await http.post(MESSAGES, json=BODY)
        assert answer.status_code == 403
        assert "X-Hart" in answer.json()["detail"]
    assert server.hall.accepted == []


async def test_every_answer_tells_browsers_to_be_strict(server: LocalServer, http: httpx.AsyncClient) -> None:
    for path in ("/", "/login", MESSAGES, "/nowhere"):
        headers = (await http.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]


async def test_without_a_token_nothing_but_open_paths_is_served(locked: LocalServer) -> None:
    async with client(locked) as http:
        for path in (MESSAGES, "/api/chats/web/main/events", "/api/chats/web/main/files/x", "/tasks"):
            answer = await http.get(path)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
        assert (await http.post(MESSAGES, json=BODY)).status_code == 401
        assert (await http.get("/healthz")).json() == {"ok": True}
        page = await http.get("/", headers={"accept": "text/html"})
        assert (page.status_code, page.headers["location"]) == (303, "/login")


@pytest.mark.parametrize("token", [TOKEN, LOCAL])
async def test_both_tokens_are_good_as_bearer(locked: LocalServer, token: str) -> None:
    async with client(locked, authorization=f"Bearer {token}") as http:
        assert (await http.post(MESSAGES, json=BODY)).status_code == 202
        assert (await http.get("/tasks")).status_code == 200


async def test_an_allowed_host_is_served_to_who_knows_the_token(locked: LocalServer) -> None:
    async with client(locked, authorization=f"Bearer {TOKEN}", host="hart.example.org") as http:
        origin = {"origin": "https://hart.example.org"}
        assert (await http.post(MESSAGES, json=BODY, headers=origin)).status_code == 202


async def test_login_gives_a_cookie_that_scripts_and_other_sites_cannot_use(locked: LocalServer) -> None:
    async with client(locked) as http:
        answer = await http.post("/login", json={"token": TOKEN})
        assert answer.status_code == 204
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert TOKEN not in answer.headers["set-cookie"]
        assert (await http.get(MESSAGES)).status_code == 200
        locked.now += SESSION_SECONDS + 1
        assert (await http.get(MESSAGES)).status_code == 401


async def test_logout_forgets_the_cookie(locked: LocalServer) -> None:
    async with client(locked) as http:
        await http.post("/login", json={"token": TOKEN})
        assert (await http.post("/logout")).status_code == 204
        assert (await http.get(MESSAGES)).status_code == 401


async def test_ten_wrong_tokens_a_minute_and_no_more(locked: LocalServer) -> None:
    async with client(locked) as http:
        for number in range(10):
            if number % 2:
                answer = await http.post("/login", json={"token": f"guess {number}"})
            else:
                answer = await http.get(MESSAGES, headers={"authorization": f"Bearer guess{number}"})
            assert answer.status_code == 401
        # The right one is not tried either, or the limit would limit nothing.
        assert (await http.post("/login", json={"token": TOKEN})).status_code == 429
        answer = await http.get(MESSAGES, headers={"authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 429
        assert (await http.get(MESSAGES, headers={"authorization": f"Bearer {LOCAL}"})).status_code == 200
        locked.now += 61
        assert (await http.post("/login", json={"token": TOKEN})).status_code == 204


async def test_a_made_up_address_gives_no_further_tries(locked: LocalServer) -> None:
    async with client(locked) as http:
        for number in range(10):
            forwarded = {"x-forwarded-for": f"192.0.2.{number}"}
            await http.post("/login", json={"token": f"guess {number}"}, headers=forwarded)
        forwarded = {"x-forwarded-for": "192.0.2.99"}
        assert (await http.post("/login", json={"token": TOKEN}, headers=forwarded)).status_code == 429


def test_old_tries_are_forgotten_one_by_one() -> None:
    now = 0.0
    limit = TryLimit(lambda: now, per_minute=2)
    limit.failed()
    now = 30.0
    limit.failed()
    assert limit.exhausted()
    now = 61.0
    assert not limit.exhausted()
    limit.failed()
    assert limit.exhausted()


@pytest.mark.parametrize(
    "cookie",
    ["", ".", "1", "9" * 15 + ".", "x.y", "99999999999." + "0" * 64, "１２３.abc", "99999999999.é", "-1.a"],
)
def test_forged_sessions_are_refused(cookie: str) -> None:
    assert not session_valid(cookie, TOKEN, 0.0)


def test_a_session_ends_with_its_token_and_its_time() -> None:
    cookie = new_session(TOKEN, 1000.0)
    assert session_valid(cookie, TOKEN, 1000.0)
    assert not session_valid(cookie, "another token", 1000.0)
    assert not session_valid(cookie, TOKEN, 1000.0 + SESSION_SECONDS)
    until, signature = cookie.split(".")
    assert not session_valid(f"{int(until) + 1}.{signature}", TOKEN, 1000.0)


def test_tokens_are_not_shown() -> None:
    shown = repr(WebSecurity(token=TOKEN, local_token=LOCAL))
    assert TOKEN not in shown
    assert LOCAL not in shown


def test_an_empty_token_is_refused_rather_than_open_to_all() -> None:
    with pytest.raises(ValueError, match="empty"):
        WebSecurity(token=" ")
