import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from channels.views import Phase, RunView
from channels.web.stream import Mailbox
from tests.web.conftest import eventually
from tests.web.local_hall import LocalHall, LocalServer

EVENTS = "/api/chats/web/main/events"
MESSAGES = "/api/chats/web/main/messages"


@dataclass
class Event:
    name: str = ""
    data: str = ""
    id: str | None = None


class Reader:
    """Server-sent events as they come over the wire."""

    def __init__(self, lines: AsyncIterator[str]) -> None:
        self.lines = lines
        self.comments = 0

    async def next(self) -> Event:
        event = Event()
        async for line in self.lines:
            name, _, value = line.partition(": ")
            if line.startswith(":"):
                self.comments += 1
            elif name == "event":
                event.name = value
            elif name == "data":
                event.data = value
            elif name == "id":
                event.id = value
            elif not line and event.name:
                return event
        raise EOFError

    async def entry(self) -> dict[str, object]:
        while (event := await self.next()).name != "entry":
            pass
        return {**json.loads(event.data), "cursor": event.id}


@asynccontextmanager
async def following(
    http: httpx.AsyncClient, after: str | None = None, **headers: str
) -> AsyncIterator[Reader]:
    params = {"after": after} if after else {}
    async with asyncio.timeout(20), http.stream("GET", EVENTS, params=params, headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        yield Reader(response.aiter_lines())


async def test_an_answer_streams_and_ends_in_an_entry(server: LocalServer, http: httpx.AsyncClient) -> None:
    async with following(http) as reader:
        await http.post(MESSAGES, json={"text": "one two three four", "message_id": "m1"})
        events = []
        while (
            not events or json.loads(events[-1].data).get("in_reply_to") is None or events[-1].name != "entry"
        ):
            events.append(await reader.next())
    assert json.loads(events[0].data)["role"] == "person"
    texts = [json.loads(event.data)["text"] for event in events if event.name == "progress"]
    assert any(0 < len(text) < len("You said: one two three four") for text in texts)
    final = json.loads(events[-1].data)
    assert (final["text"], final["in_reply_to"], final["final"]) == (
        "You said: one two three four",
        "m1",
        True,
    )


async def test_a_stream_without_cursor_begins_with_the_latest_entries(
    server: LocalServer, http: httpx.AsyncClient
) -> None:
    address = server.hall.channels["web"].address("main")
    for number in range(130):
        await server.hall.say(address, f"note {number}", None)
    async with following(http) as reader:
        texts = [(await reader.entry())["text"] for _ in range(100)]
    assert texts == [f"note {number}" for number in range(30, 130)]


async def test_a_reader_that_comes_back_gets_what_it_missed_and_only_that(
    server: LocalServer, http: httpx.AsyncClient
) -> None:
    address = server.hall.channels["web"].address("main")
    await server.hall.say(address, "seen", None)
    async with following(http) as reader:
        cursor = (await reader.entry())["cursor"]
    assert isinstance(cursor, str)
    for number in range(250):
        await server.hall.say(address, f"missed {number}", None)
    # The header of a reconnecting browser wins over the address it first asked for.
    async with following(http, after="0", **{"last-event-id": cursor}) as reader:
        texts = [(await reader.entry())["text"] for _ in range(250)]
        await server.hall.say(address, "live", None)
        texts.append((await reader.entry())["text"])
    assert texts == [f"missed {number}" for number in range(250)] + ["live"]


async def test_a_cursor_the_feed_does_not_know_starts_with_the_latest(
    server: LocalServer, http: httpx.AsyncClient
) -> None:
    await server.hall.say(server.hall.channels["web"].address("main"), "here", None)
    async with following(http, after="of-another-database") as reader:
        assert (await reader.entry())["text"] == "here"


async def test_line_breaks_of_any_kind_stay_inside_an_event(
    server: LocalServer, http: httpx.AsyncClient
) -> None:
    text = "a\nb\r\nc\u2028d\x85e\n\nevent: entry\ndata: {}\n\n"
    await server.hall.say(server.hall.channels["web"].address("main"), text, None)
    async with following(http) as reader:
        assert (await reader.entry())["text"] == text


async def test_other_chats_are_not_heard(server: LocalServer, http: httpx.AsyncClient) -> None:
    async with following(http) as reader:
        await server.hall.say(server.hall.channels["web"].address("other"), "not for you", None)
        await server.hall.say(server.hall.channels["console"].address("main"), "nor this", None)
        await server.hall.say(server.hall.channels["web"].address("main"), "for you", None)
        assert (await reader.entry())["text"] == "for you"


async def test_a_reader_that_comes_in_the_middle_sees_the_run(
    server: LocalServer, http: httpx.AsyncClient
) -> None:
    await http.post(MESSAGES, json={"text": "wait", "message_id": "m1"})
    address = server.hall.channels["web"].address("main")
    await eventually(lambda: address in server.hall.feed.current)
    async with following(http) as reader:
        while (event := await reader.next()).name != "progress":
            pass
        assert json.loads(event.data)["in_reply_to"] == "m1"


async def test_silence_is_filled_with_comments(tmp_path: Path) -> None:
    server = LocalServer(LocalHall(tmp_path))
    server.keep_alive = 0.05
    await server.start()
    try:
        async with httpx.AsyncClient(base_url=server.url, trust_env=False) as http, following(http) as reader:
            comments = 0
            async for line in reader.lines:
                comments += line.startswith(":")
                if comments == 3:
                    break
    finally:
        await server.stop()
        await server.hall.close()
    assert comments == 3


async def test_streams_end_at_once_when_the_server_shuts_down(
    server: LocalServer, http: httpx.AsyncClient
) -> None:
    async with following(http) as reader:
        await server.hall.say(server.hall.channels["web"].address("main"), "hello", None)
        await reader.entry()
        began = time.monotonic()
        await server.stop()
        rest = [line async for line in reader.lines]
    # Far less than the five seconds after which the server would cut it.
    assert time.monotonic() - began < 2.0
    assert rest == []
    await server.start()


async def test_a_reader_that_left_is_let_go(server: LocalServer, http: httpx.AsyncClient) -> None:
    address = server.hall.channels["web"].address("main")
    async with following(http):
        await eventually(lambda: len(server.hall.feed.watchers[address]) == 1)
    await eventually(lambda: len(server.hall.feed.watchers[address]) == 0)


async def test_a_slow_reader_holds_one_view_however_much_happens() -> None:
    mailbox = Mailbox()
    for number in range(10_000):
        mailbox.put(RunView("r", None, Phase.ANSWERING, f"text {number}"))
        mailbox.put(None)
    changed, view = await mailbox.take(1.0)
    assert changed
    assert view is not None
    assert view.text == "text 9999"
    assert await mailbox.take(0.0) == (False, None)
