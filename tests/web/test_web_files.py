import httpx
import pytest

from channels.messages import OutboundFile
from tests.web.conftest import eventually
from tests.web.local_hall import LocalServer

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 20


async def answered(
    server: LocalServer, http: httpx.AsyncClient, text: str, files: dict[str, object] | None = None
) -> dict:
    body = {"text": text, "message_id": "m1"}
    if files:
        await http.post("/api/chats/web/main/messages", data=body, files=files)
    else:
        await http.post("/api/chats/web/main/messages", json=body)
    address = server.hall.channels["web"].address("main")
    await eventually(lambda: any(entry.in_reply_to == "m1" for entry in server.hall.feed.entries[address]))
    return (await http.get("/api/chats/web/main/messages")).json()["entries"][-1]


async def test_what_is_uploaded_comes_back_byte_for_byte(
    server: LocalServer, http: httpx.AsyncClient
) -> None:
    content = bytes(range(256)) * 4000
    entry = await answered(server, http, "look", {"file": ("data.bin", content)})
    (file,) = entry["files"]
    assert (file["name"], file["size"]) == ("data.bin", len(content))
    assert (await http.get(f"/api/chats/web/main/files/{file['id']}")).content == content


async def test_no_file_is_shown_as_a_page_of_ours(server: LocalServer, http: httpx.AsyncClient) -> None:
    entry = await answered(server, http, "file page.html <script>alert(1)</script>")
    answer = await http.get(f"/api/chats/web/main/files/{entry['files'][0]['id']}")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert answer.text == "<script>alert(1)</script>"


async def test_pictures_keep_their_type_for_previews(server: LocalServer, http: httpx.AsyncClient) -> None:
    entry = await answered(server, http, "look", {"file": ("a.png", PNG, "image/png")})
    answer = await http.get(f"/api/chats/web/main/files/{entry['files'][0]['id']}")
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize("name", ['a"; filename="b.exe', "a\r\nset-cookie: x=y", "../../x", "报告.pdf"])
async def test_hostile_names_stay_inside_their_header(
    server: LocalServer, http: httpx.AsyncClient, name: str
) -> None:
    path = server.hall.home / "out" / "f"
    path.write_bytes(b"content")
    address = server.hall.channels["web"].address("main")
    server.hall.feed.files[address, "f"] = OutboundFile(path, name, "text/plain")
    answer = await http.get("/api/chats/web/main/files/f")
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers
    disposition = answer.headers["content-disposition"]
    assert disposition.count("filename") == 1 or "filename%3D" in disposition
    assert "/" not in disposition


async def test_a_file_of_another_chat_is_not_there(server: LocalServer, http: httpx.AsyncClient) -> None:
    entry = await answered(server, http, "file a.txt secret")
    file_id = entry["files"][0]["id"]
    for path in (f"web/other/files/{file_id}", f"console/main/files/{file_id}", "web/main/files/nope"):
        answer = await http.get(f"/api/chats/{path}")
        assert answer.status_code == 404
        assert "secret" not in answer.text


async def test_a_file_that_was_removed_is_said_to_be_gone(
    server: LocalServer, http: httpx.AsyncClient
) -> None:
    entry = await answered(server, http, "file a.txt hello")
    for path in (server.hall.home / "out").iterdir():
        path.unlink()
    assert (await http.get(f"/api/chats/web/main/files/{entry['files'][0]['id']}")).status_code == 404
