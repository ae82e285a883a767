"""The other side of the ports: a hall in memory whose agent echoes, and a real server for it."""

import asyncio
import socket
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from channels.errors import InboxUnavailableError
from channels.feed import Feed, FeedChannel, FeedEntry, FeedFile, FeedPage, Staging
from channels.messages import Address, InboundMessage, OutboundFile, OutboundMessage, OutboundText
from channels.views import Phase, RunView, ToolLine
from channels.web.app import web_app
from channels.web.security import WebSecurity
from channels.web.uploads import UploadLimits

START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


class MemoryFeed(Feed):
    """A feed over lists. Cursors are positions."""

    def __init__(self) -> None:
        self.entries: dict[Address, list[FeedEntry]] = defaultdict(list)
        self.files: dict[tuple[Address, str], OutboundFile] = {}
        self.watchers: dict[Address, set[asyncio.Queue[RunView | None]]] = defaultdict(set)
        self.current: dict[Address, RunView] = {}

    async def read(self, address: Address, after: str | None, limit: int) -> FeedPage:
        said = self.entries[address]
        known = after is not None and after.isdecimal() and int(after) <= len(said)
        start = int(after) if known and after is not None else max(0, len(said) - limit)
        page = said[start : start + limit]
        return FeedPage(tuple(page), str(start + len(page)))

    @asynccontextmanager
    async def watch(self, address: Address) -> AsyncIterator[AsyncIterator[RunView | None]]:
        queue: asyncio.Queue[RunView | None] = asyncio.Queue()
        if address in self.current:
            queue.put_nowait(self.current[address])
        self.watchers[address].add(queue)

        async def changes() -> AsyncIterator[RunView | None]:
            while True:
                yield await queue.get()

        try:
            yield changes()
        finally:
            self.watchers[address].discard(queue)

    async def file(self, address: Address, file_id: str) -> OutboundFile | None:
        return self.files.get((address, file_id))

    async def notify(self, address: Address) -> None:
        for queue in self.watchers[address]:
            queue.put_nowait(None)

    async def progress(self, address: Address, view: RunView) -> None:
        self.current[address] = view
        for queue in self.watchers[address]:
            queue.put_nowait(view)


@dataclass
class LocalHall:
    """Inbox, ledger and agent. The agent echoes, word by word, and knows some requests.

    ``wait`` keeps a run going until ``/stop``; ``file NAME TEXT`` presents a file; ``tools`` runs
    two tools; ``parts`` answers in two parts; ``fail`` fails. Attachments come back as files.
    """

    home: Path
    feed: MemoryFeed = field(default_factory=MemoryFeed)
    keys: set[str] = field(default_factory=set)
    accepted: list[InboundMessage] = field(default_factory=list)
    available: bool = True
    pause: float = 0.01
    runs: dict[Address, asyncio.Task[None]] = field(default_factory=dict)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        staging = Staging(self.home / "staging")
        self.channels = {name: FeedChannel(name, self.feed, staging) for name in ("web", "console")}
        (self.home / "out").mkdir(parents=True, exist_ok=True)

    async def accept(self, message: InboundMessage) -> None:
        if not self.available:
            raise InboxUnavailableError("the disk is away")
        if message.dedupe_key in self.keys:
            return
        self.keys.add(message.dedupe_key)
        self.accepted.append(message)
        await self._add(message.address, "person", message.text, message.message_id, None)
        task = asyncio.create_task(self._run(message))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        if not message.text.startswith("/"):
            self.runs[message.address] = task

    async def reject(self, address: Address, dedupe_key: str, raw: str, reason: str) -> None:
        raise NotImplementedError

    async def say(self, address: Address, text: str, in_reply_to: str | None, *, final: bool = True) -> None:
        """What delivery does: the text is in the ledger, then the channel is told."""
        key = f"d{len(self.feed.entries[address])}"
        await self._add(address, "hart", text, key, in_reply_to, final=final)
        await self.channels[address.channel].send(OutboundMessage(address, key, OutboundText(text)))

    async def close(self) -> None:
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _add(
        self,
        address: Address,
        role: str,
        text: str,
        message_id: str,
        reply: str | None,
        *,
        final: bool = True,
        files: tuple[FeedFile, ...] = (),
        failed: bool = False,
    ) -> None:
        said = self.feed.entries[address]
        at = START + timedelta(seconds=len(said))
        said.append(
            FeedEntry(
                f"{address.channel}-{address.chat_id}-{len(said)}",
                role,
                text,
                files,
                at,
                message_id,
                reply,
                final,
                failed,
            )
        )
        await self.feed.notify(address)

    async def _run(self, message: InboundMessage) -> None:
        if message.text == "/stop":
            run = self.runs.get(message.address)
            if run is not None:
                run.cancel()
            await self.say(message.address, "Stopped.", message.message_id)
        elif message.text.startswith("/"):
            await self.say(message.address, f"You asked for {message.text}.", message.message_id)
        else:
            with suppress(asyncio.CancelledError):
                await self._answer(message)
            self.feed.current.pop(message.address, None)

    async def _answer(self, message: InboundMessage) -> None:
        address, text = message.address, message.text
        view = RunView(f"run-{message.message_id}", message.message_id)
        await self._show(address, view)
        if text == "tools":
            done = ToolLine("1", "Reading notes.md", done=True)
            await self._show(
                address,
                RunView(
                    view.run_id,
                    view.in_reply_to,
                    Phase.WORKING,
                    "",
                    (done, ToolLine("2", "Writing report.md")),
                ),
            )
            await asyncio.sleep(self.pause * 20)
        answer = text if text.startswith("#") else f"You said: {text}"
        shown = ""
        for word in answer.split(" "):
            shown = f"{shown} {word}" if shown else word
            await self._show(address, RunView(view.run_id, view.in_reply_to, Phase.ANSWERING, shown))
        if text == "wait":
            await asyncio.Event().wait()
        if text == "parts":
            await self.say(address, "First part.", message.message_id, final=False)
        files = await self._files(message)
        await self._show(address, RunView(view.run_id, view.in_reply_to, Phase.DONE, answer))
        key = f"d{len(self.feed.entries[address])}"
        failed = text == "fail"
        answer = "The model did not answer." if failed else answer
        await self._add(address, "hart", answer, key, message.message_id, files=files, failed=failed)

    async def _show(self, address: Address, view: RunView) -> None:
        await self.channels[address.channel].show(address, view)
        await asyncio.sleep(self.pause)

    async def _files(self, message: InboundMessage) -> tuple[FeedFile, ...]:
        made = []
        for index, attachment in enumerate(message.attachments):
            path = self.home / "out" / f"{message.message_id}-{index}"
            await self.channels[message.address.channel].fetch(attachment, path, 10_000_000)
            made.append((attachment.name, path, attachment.mime or "application/octet-stream"))
        if message.text.startswith("file "):
            _, name, content = message.text.split(" ", 2)
            path = self.home / "out" / f"{message.message_id}-made"
            path.write_text(content)
            made.append((name, path, "text/html" if name.endswith("html") else "text/plain"))
        files = []
        for index, (name, path, mime) in enumerate(made):
            file_id = f"{message.message_id}-{index}"
            self.feed.files[message.address, file_id] = OutboundFile(path, name, mime)
            files.append(FeedFile(file_id, name, mime, path.stat().st_size))
        return tuple(files)


class LocalServer:
    """A real uvicorn on 127.0.0.1 that can be stopped and started again on the same port."""

    def __init__(
        self, hall: LocalHall, security: WebSecurity | None = None, limits: UploadLimits | None = None
    ) -> None:
        self.hall = hall
        self.security = security or WebSecurity()
        self.limits = limits
        self.keep_alive = 15.0
        self.now = 1_800_000_000.0
        self.port = 0
        self.app: FastAPI | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        self.closing = asyncio.Event()
        self.app = web_app(
            self.hall.channels,
            self.hall,
            self.hall.feed,
            self.closing,
            self.security,
            limits=self.limits,
            keep_alive=self.keep_alive,
            now=lambda: self.now,
        )
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        self.port = listener.getsockname()[1]
        config = uvicorn.Config(self.app, log_level="warning", timeout_graceful_shutdown=5, lifespan="off")
        self.server = uvicorn.Server(config)
        # Connections queue up from here on, so nobody needs to wait for the server to be up.
        listener.listen()
        self.serving = asyncio.create_task(self.server.serve(sockets=[listener]))

    async def stop(self) -> None:
        self.closing.set()
        self.server.should_exit = True
        await self.serving


@asynccontextmanager
async def local_server(
    home: Path, security: WebSecurity | None = None, limits: UploadLimits | None = None
) -> AsyncIterator[LocalServer]:
    """A running server with its hall."""
    server = LocalServer(LocalHall(home), security, limits)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
        await server.hall.close()
