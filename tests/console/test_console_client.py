import asyncio
import socket
from contextlib import aclosing
from pathlib import Path

import pytest

from channels.console.client import FOREVER, LinkChanged, LocalClient, ServerGoneError, ServerRefusedError
from channels.feed import FeedEntry, FeedFile
from channels.messages import OutboundFile
from channels.views import RunView
from channels.web.security import WebSecurity
from tests.web.local_hall import LocalServer, local_server


async def entries(client: LocalClient, after: str | None, count: int) -> list[FeedEntry]:
    found: list[FeedEntry] = []
    async with asyncio.timeout(20), aclosing(client.follow("main", after)) as events:
        async for event in events:
            if isinstance(event, FeedEntry):
                found.append(event)
                if len(found) == count:
                    break
    return found


async def test_a_message_and_its_answer_are_followed(client: LocalClient) -> None:
    await client.post("main", "one two three", "m1")
    seen: list[FeedEntry] = []
    views: list[RunView] = []
    async with asyncio.timeout(20), aclosing(client.follow("main", None)) as events:
        async for event in events:
            if isinstance(event, FeedEntry):
                seen.append(event)
            elif isinstance(event, RunView):
                views.append(event)
            if len(seen) == 2:
                break
    assert [(entry.role, entry.text) for entry in seen] == [
        ("person", "one two three"),
        ("hart", "You said: one two three"),
    ]
    assert views


async def test_nothing_is_lost_or_doubled_over_a_restart_of_the_server(
    server: LocalServer, client: LocalClient
) -> None:
    address = server.hall.channels["console"].address("main")
    await server.hall.say(address, "before", None)
    texts: list[str] = []
    links: list[bool] = []
    async with asyncio.timeout(30), aclosing(client.follow("main", None)) as events:
        async for event in events:
            if isinstance(event, LinkChanged):
                links.append(event.up)
                if links == [True, False]:
                    await server.hall.say(address, "while away", None)
                    await server.start()
            elif isinstance(event, FeedEntry):
                texts.append(event.text)
                if event.text == "before":
                    await server.stop()
                elif event.text == "while away":
                    await server.hall.say(address, "after", None)
                elif event.text == "after":
                    break
    assert texts == ["before", "while away", "after"]
    assert links == [True, False, True]


async def test_a_patient_post_arrives_once_when_the_server_is_back(
    server: LocalServer, client: LocalClient
) -> None:
    await server.stop()
    posting = asyncio.create_task(client.post("main", "hello", "m1", patience=FOREVER))
    await asyncio.sleep(0.3)
    assert not posting.done()
    server.hall.available = False
    await server.start()
    await asyncio.sleep(0.6)
    assert not posting.done()
    server.hall.available = True
    async with asyncio.timeout(20):
        await posting
    assert [message.text for message in server.hall.accepted] == ["hello"]


async def test_a_server_that_is_gone_is_said_plainly(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        async with LocalClient(url) as client:
            with pytest.raises(ServerGoneError, match="hart run"):
                await client.history("main", 1)
            with pytest.raises(ServerGoneError, match="hart run"):
                await client.post("main", "hello", "m1")


async def test_words_of_a_refusal_reach_the_person(client: LocalClient) -> None:
    with pytest.raises(ServerRefusedError, match="empty"):
        await client.post("main", " ", "m1")
    with pytest.raises(ServerRefusedError, match="100 KB"):
        await client.post("main", "x" * 200_000, "m1")


async def test_a_wrong_token_is_refused_and_not_repeated(tmp_path: Path) -> None:
    async with local_server(tmp_path, WebSecurity(token="right")) as server:
        async with LocalClient(server.url, "wr0ng") as client:
            with pytest.raises(ServerRefusedError, match="token") as refused:
                await entries(client, None, 1)
            assert "wr0ng" not in str(refused.value)
            with pytest.raises(ServerRefusedError, match="token"):
                await client.post("main", "hello", "m1", patience=FOREVER)
        async with LocalClient(server.url, "right") as client:
            await client.post("main", "hello", "m1")


async def test_files_go_along_and_come_back(client: LocalClient, tmp_path: Path) -> None:
    content = bytes(range(256)) * 1000
    (tmp_path / "data.bin").write_bytes(content)
    await client.post("main", "look", "m1", [tmp_path / "data.bin"])
    (file,) = (await entries(client, None, 2))[1].files
    first = await client.download("main", file, tmp_path / "down")
    second = await client.download("main", file, tmp_path / "down")
    assert (first.name, second.name) == ("data.bin", "data-1.bin")
    assert first.read_bytes() == second.read_bytes() == content


@pytest.mark.parametrize(
    ("name", "saved"),
    [("../../evil", "evil"), (".bashrc", "bashrc"), ("/etc/passwd", "passwd"), ("", "file")],
)
async def test_a_download_stays_in_its_directory(
    server: LocalServer, client: LocalClient, tmp_path: Path, name: str, saved: str
) -> None:
    (tmp_path / "content").write_text("content")
    address = server.hall.channels["console"].address("main")
    server.hall.feed.files[address, "f"] = OutboundFile(tmp_path / "content", name)
    path = await client.download("main", FeedFile("f", name, "text/plain", 7), tmp_path / "down")
    assert path == tmp_path / "down" / saved


async def test_a_download_that_fails_leaves_nothing(client: LocalClient, tmp_path: Path) -> None:
    with pytest.raises(ServerRefusedError, match="no such file"):
        await client.download("main", FeedFile("nope", "a.txt", "text/plain", 7), tmp_path)
    assert not (tmp_path / "a.txt").exists()
