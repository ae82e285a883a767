import asyncio
import resource
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from channels.web.uploads import UploadLimits
from tests.web.conftest import eventually
from tests.web.local_hall import LocalServer, local_server

MESSAGES = "/api/chats/web/main/messages"
SMALL = UploadLimits(text_bytes=2048, file_bytes=100_000, total_bytes=150_000, files=3)


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[LocalServer]:
    async with local_server(tmp_path, limits=SMALL) as running:
        yield running


@pytest.fixture
async def post(small: LocalServer) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=small.url, trust_env=False, headers={"x-hart": "1"}) as client:
        yield client


def staged(server: LocalServer) -> list[Path]:
    root = server.hall.home / "staging"
    return sorted(root.iterdir()) if root.is_dir() else []


async def test_a_message_is_accepted_as_one_of_a_direct_chat(
    server: LocalServer, http: httpx.AsyncClient
) -> None:
    answer = await http.post(MESSAGES, json={"text": "hello", "message_id": "m1"})
    assert (answer.status_code, answer.json()) == (202, {"message_id": "m1"})
    (message,) = server.hall.accepted
    assert (message.text, message.sender.id, message.chat_kind, message.addressed) == (
        "hello",
        "local",
        "direct",
        True,
    )
    assert (message.address.channel, message.address.account, message.address.chat_id) == (
        "web",
        "main",
        "main",
    )


async def test_posting_again_is_harmless(server: LocalServer, http: httpx.AsyncClient) -> None:
    for _ in range(3):
        files = {"file": ("notes.txt", b"some notes")}
        answer = await http.post(MESSAGES, data={"text": "hello", "message_id": "m1"}, files=files)
        assert answer.status_code == 202
    assert len(server.hall.accepted) == 1
    assert len(staged(server)) == 1


async def test_the_same_id_in_another_chat_is_another_message(
    server: LocalServer, http: httpx.AsyncClient
) -> None:
    for chat in ("web/one", "web/two", "console/one"):
        await http.post(f"/api/chats/{chat}/messages", json={"text": "hello", "message_id": "m1"})
    assert len({message.dedupe_key for message in server.hall.accepted}) == 3


async def test_files_are_staged_in_order_under_our_own_names(
    server: LocalServer, http: httpx.AsyncClient
) -> None:
    files = [("file", ("../../etc/passwd", b"first")), ("file", ("报告.pdf", b"second", "application/pdf"))]
    await http.post(MESSAGES, data={"text": "", "message_id": "m1"}, files=files)
    (message,) = server.hall.accepted
    assert [(a.name, a.size, a.mime) for a in message.attachments] == [
        ("passwd", 5, "application/octet-stream"),
        ("报告.pdf", 6, "application/pdf"),
    ]
    assert [path.read_bytes() for path in staged(server)] == [b"first", b"second"]
    assert (server.hall.home / "staging").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("text", ["", "  \n ", "\x00"])
async def test_an_empty_message_is_refused(server: LocalServer, http: httpx.AsyncClient, text: str) -> None:
    answer = await http.post(MESSAGES, json={"text": text, "message_id": "m1"})
    assert answer.status_code == 422
    assert "empty" in answer.json()["detail"]
    assert server.hall.accepted == []


@pytest.mark.parametrize(
    ("raw", "status", "texts"), [(b"a\\u0000b", 202, ["ab"]), (b"a\\ud83d", 422, []), (b"\xff", 422, [])]
)
async def test_text_that_no_store_takes_never_arrives(
    server: LocalServer, http: httpx.AsyncClient, raw: bytes, status: int, texts: list[str]
) -> None:
    body = b'{"text": "%s", "message_id": "m1"}' % raw
    answer = await http.post(MESSAGES, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert [message.text for message in server.hall.accepted] == texts


@pytest.mark.parametrize("size", [2049, 50_000, 3_000_000])
@pytest.mark.parametrize("multipart", [True, False])
async def test_text_over_the_cap_is_refused_with_words(
    small: LocalServer, post: httpx.AsyncClient, size: int, multipart: bool
) -> None:
    fields = {"text": "x" * size, "message_id": "m1"}
    if multipart:
        answer = await post.post(MESSAGES, data=fields, files={"file": ("a", b"a")})
    else:
        answer = await post.post(MESSAGES, json=fields)
    assert answer.status_code == 413
    assert "2 KB" in answer.json()["detail"]
    assert staged(small) == []


async def test_text_at_the_cap_is_taken(small: LocalServer, post: httpx.AsyncClient) -> None:
    answer = await post.post(MESSAGES, json={"text": "\x01" * 2048, "message_id": "m1"})
    assert answer.status_code == 202


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ([100_001], "larger than"),
        ([5_000_000], "larger than"),
        ([80_000, 80_000], "files are larger"),
        ([1, 1, 1, 1], "3 files"),
    ],
)
async def test_files_over_a_cap_are_refused_and_leave_nothing(
    small: LocalServer, post: httpx.AsyncClient, sizes: list[int], words: str
) -> None:
    files = [("file", (f"{index}.bin", b"x" * size)) for index, size in enumerate(sizes)]
    answer = await post.post(MESSAGES, data={"text": "hi", "message_id": "m1"}, files=files)
    assert answer.status_code == 413
    assert words in answer.json()["detail"]
    assert staged(small) == []
    assert small.hall.accepted == []


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("application/json", b"not json", 422),
        ("application/json", b'{"text": "hi"}', 422),
        ("application/json", b'{"text": 1, "message_id": "m"}', 422),
        ("application/json", b'{"text": "hi", "message_id": "m", "sender": "root"}', 422),
        ("application/json", b'{"text": "hi", "message_id": "../m"}', 422),
        ("application/json", b'{"text": "hi", "message_id": ""}', 422),
        ("text/plain", b"hi", 415),
        ("application/x-www-form-urlencoded", b"text=hi&message_id=m", 415),
        ("multipart/form-data", b"", 415),
        ("multipart/form-data; boundary=b", b"garbage", 422),
        ("multipart/form-data; boundary=b", b"--b\r\nX: y\r\n\r\n", 422),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf a file',
            422,
        ),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="sender"\r\n\r\nroot\r\n--b--\r\n',
            422,
        ),
        ("multipart/form-data; boundary=" + "b" * 500, b"--b", 422),
    ],
)
async def test_bodies_that_are_not_a_message_are_refused(
    server: LocalServer, http: httpx.AsyncClient, kind: str, body: bytes, status: int
) -> None:
    answer = await http.post(MESSAGES, content=body, headers={"content-type": kind})
    assert answer.status_code == status
    assert isinstance(answer.json()["detail"], str)
    assert server.hall.accepted == []
    assert staged(server) == []


async def test_an_upload_that_breaks_off_leaves_nothing(server: LocalServer, http: httpx.AsyncClient) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(
        b"POST /api/chats/web/main/messages HTTP/1.1\r\nHost: localhost\r\nX-Hart: 1\r\n"
        b"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n"
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf a file'
    )
    await writer.drain()
    await eventually(lambda: len(staged(server)) == 1)
    writer.close()
    await writer.wait_closed()
    await eventually(lambda: staged(server) == [])
    assert server.hall.accepted == []


async def test_a_full_disk_is_said_plainly(server: LocalServer, http: httpx.AsyncClient) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # The kernel refuses to write further, as it does on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        fields = {"text": "hi", "message_id": "m1"}
        answer = await http.post(MESSAGES, data=fields, files={"file": ("a", b"x" * (2 << 20))})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert answer.status_code == 507
    assert "disk is full" in answer.json()["detail"]
    assert staged(server) == []
    assert server.hall.accepted == []


async def test_an_unavailable_inbox_is_said_plainly_and_can_be_tried_again(
    server: LocalServer, http: httpx.AsyncClient
) -> None:
    server.hall.available = False
    answer = await http.post(MESSAGES, json={"text": "hello", "message_id": "m1"})
    assert answer.status_code == 503
    assert "try again" in answer.json()["detail"]
    assert "disk is away" not in answer.text
    server.hall.available = True
    assert (await http.post(MESSAGES, json={"text": "hello", "message_id": "m1"})).status_code == 202


@pytest.mark.parametrize("path", ["/api/chats/slack/main/messages", "/api/chats/Web/main/messages"])
async def test_only_local_channels_are_served(http: httpx.AsyncClient, path: str) -> None:
    assert (await http.post(path, json={"text": "hi", "message_id": "m"})).status_code == 404
    assert (await http.get(path)).status_code == 404


@pytest.mark.parametrize("chat", ["a b", "a" * 65, "%2e%2e%2f", "日本", "a%0a"])
async def test_chat_names_are_plain(http: httpx.AsyncClient, chat: str) -> None:
    answer = await http.get(f"/api/chats/web/{chat}/messages")
    assert answer.status_code in (404, 422)


async def test_history_is_paged_by_cursor(server: LocalServer, http: httpx.AsyncClient) -> None:
    address = server.hall.channels["web"].address("main")
    for number in range(7):
        await server.hall.say(address, f"note {number}", None)
    latest = (await http.get(MESSAGES, params={"limit": 3})).json()
    assert [entry["text"] for entry in latest["entries"]] == ["note 4", "note 5", "note 6"]
    first = (await http.get(MESSAGES, params={"limit": 3, "after": "0"})).json()
    second = (await http.get(MESSAGES, params={"limit": 3, "after": first["cursor"]})).json()
    assert [entry["text"] for entry in first["entries"] + second["entries"]] == [
        f"note {n}" for n in range(6)
    ]
    assert (await http.get(MESSAGES, params={"limit": 501})).status_code == 422
