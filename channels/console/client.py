"""The chat API of a running Hart, from the outside."""

import asyncio
import json
import math
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

import httpx

from channels.feed import FeedEntry, FeedFile, FeedPage
from channels.file_names import safe_name
from channels.views import RunView
from channels.web.wire import WireError, parse_entry, parse_page, parse_view

# Keep-alives come every 15 s; three missing ones are a dead connection.
_SILENCE_SECONDS = 45.0
_RETRY_FIRST_SECONDS = 0.25
_RETRY_MOST_SECONDS = 5.0
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


class LocalServerError(Exception):
    """The local server did not do what it was asked. The text is for the person at the terminal."""


class ServerGoneError(LocalServerError):
    """Nobody answers, or not for now; trying again may help."""


class ServerRefusedError(LocalServerError):
    """The server understood and said no; trying again will not help."""


@dataclass(frozen=True, slots=True)
class LinkChanged:
    """The event stream was lost, or is there again."""

    up: bool


FeedEvent = FeedEntry | RunView | LinkChanged


class LocalClient:
    """Talks to one running Hart. Use as an async context manager, or call :meth:`aclose`.

    Args:
        base_url: Such as ``http://127.0.0.1:8765``.
        token: The local token or the configured one; None where no token is asked for.
        channel: Which local channel the messages belong to.
    """

    def __init__(self, base_url: str, token: str | None = None, channel: str = "console") -> None:
        headers = {"x-hart": "1"} | ({"authorization": f"Bearer {token}"} if token else {})
        self._base_url = base_url.rstrip("/")
        self._channel = channel
        # A proxy from the environment has no business between two processes of one machine.
        self._http = httpx.AsyncClient(
            base_url=self._base_url,
            headers=headers,
            trust_env=False,
            timeout=httpx.Timeout(30.0, connect=5.0),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def history(self, chat: str, limit: int) -> FeedPage:
        """The latest entries of a chat, and the cursor after them.

        Raises:
            ServerGoneError, ServerRefusedError: See there.
        """
        try:
            response = await self._http.get(self._path(chat, "messages"), params={"limit": limit})
        except httpx.TransportError as error:
            raise self._gone() from error
        _check(response)
        return _parsed(response.content)

    async def post(
        self, chat: str, text: str, message_id: str, files: Sequence[Path] = (), patience: float = 0.0
    ) -> None:
        """Post a message; returns once the server has it on disk.

        Args:
            chat: Its name.
            text: Markdown; may be empty when there are files.
            message_id: Unique, and the same when the message is posted again.
            files: What to attach.
            patience: Seconds to keep trying while the server is away; the message arrives once.

        Raises:
            ServerGoneError: It stayed away.
            ServerRefusedError: The server will not take this message.
            LocalServerError: A file cannot be read.
        """
        delay = _RETRY_FIRST_SECONDS
        until = asyncio.get_running_loop().time() + patience
        while True:
            try:
                return await self._post_once(chat, text, message_id, files)
            except ServerGoneError:
                if asyncio.get_running_loop().time() + delay > until:
                    raise
            await asyncio.sleep(delay)
            delay = min(delay * 2, _RETRY_MOST_SECONDS)

    async def _post_once(self, chat: str, text: str, message_id: str, files: Sequence[Path]) -> None:
        path = self._path(chat, "messages")
        fields = {"text": text, "message_id": message_id}
        with ExitStack() as stack:
            try:
                handles = [(file.name, stack.enter_context(file.open("rb"))) for file in files]
            except OSError as error:
                raise LocalServerError(f"Cannot read {error.filename}: {error.strerror}.") from error
            try:
                if handles:
                    parts = [("file", handle) for handle in handles]
                    # Reading and writing a large file takes longer than an answer does.
                    timeout = httpx.Timeout(120.0, connect=5.0)
                    response = await self._http.post(path, data=fields, files=parts, timeout=timeout)
                else:
                    response = await self._http.post(path, json=fields)
            except httpx.TransportError as error:
                raise self._gone() from error
        _check(response)

    async def follow(self, chat: str, after: str | None) -> AsyncGenerator[FeedEvent, None]:
        """What happens in a chat after a cursor, without end; reconnects by itself.

        An entry may come twice around a reconnect. Close the iterator when done with it
        (``contextlib.aclosing``).

        Raises:
            ServerRefusedError: The server does not let us in.
        """
        cursor, up, delay = after, False, _RETRY_FIRST_SECONDS
        timeout = httpx.Timeout(10.0, connect=5.0, read=_SILENCE_SECONDS)
        while True:
            with suppress(httpx.TransportError, ServerGoneError):
                params = {"after": cursor} if cursor else {}
                request = self._http.stream("GET", self._path(chat, "events"), params=params, timeout=timeout)
                async with request as response:
                    if response.status_code != 200:
                        await response.aread()
                    _check(response)
                    up, delay = True, _RETRY_FIRST_SECONDS
                    yield LinkChanged(True)
                    async for event in _events(response.aiter_lines()):
                        cursor = event.id or cursor
                        if (news := _news(event)) is not None:
                            yield news
            if up:
                up = False
                yield LinkChanged(False)
            await asyncio.sleep(delay)
            delay = min(delay * 2, _RETRY_MOST_SECONDS)

    async def download(self, chat: str, file: FeedFile, directory: Path) -> Path:
        """Save a file under its own name, or a numbered one if that is taken; tells where.

        Raises:
            ServerGoneError, ServerRefusedError: See there.
            LocalServerError: The file cannot be written.
        """
        path = self._path(chat, f"files/{quote(file.id, safe='')}")
        try:
            await asyncio.to_thread(directory.mkdir, parents=True, exist_ok=True)
            target = await asyncio.to_thread(_claim, directory, safe_name(file.name))
        except OSError as error:
            raise LocalServerError(f"Cannot write to {directory}: {error.strerror}.") from error
        try:
            async with self._http.stream("GET", path) as response:
                if response.status_code != 200:
                    await response.aread()
                _check(response)
                with target.open("wb") as handle:
                    async for chunk in response.aiter_bytes():
                        await asyncio.to_thread(handle.write, chunk)
        except BaseException as error:
            target.unlink(missing_ok=True)
            if isinstance(error, httpx.TransportError):
                raise self._gone() from error
            if isinstance(error, OSError):
                raise LocalServerError(f"Cannot write {target}: {error.strerror}.") from error
            raise
        return target

    def _path(self, chat: str, rest: str) -> str:
        return f"/api/chats/{self._channel}/{quote(chat, safe='')}/{rest}"

    def _gone(self) -> ServerGoneError:
        return ServerGoneError(
            f"Hart does not answer at {self._base_url}. Is it running? Start it with: hart run"
        )


FOREVER = math.inf
"""Patience of someone who will press Ctrl-C when it takes too long."""


@dataclass(frozen=True, slots=True)
class _Event:
    id: str
    name: str
    data: str


async def _events(lines: AsyncIterator[str]) -> AsyncIterator[_Event]:
    # The server-sent events format, as far as our server uses it.
    fields: dict[str, str] = {}
    async for line in lines:
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        elif fields:
            yield _Event(fields.get("id", ""), fields.get("event", ""), fields.get("data", ""))
            fields = {}


def _news(event: _Event) -> FeedEntry | RunView | None:
    try:
        if event.name == "entry":
            return parse_entry(event.data)
        if event.name == "progress":
            return parse_view(event.data)
    except WireError as error:
        raise ServerRefusedError(str(error)) from error
    # A newer server may send more; what we do not know we do not need.
    return None


def _check(response: httpx.Response) -> None:
    if response.is_success:
        return
    words = _words(response)
    if response.status_code in _PASSING:
        raise ServerGoneError(words)
    if response.status_code == 401:
        words = "The server asks for a token, and this one is not accepted."
    raise ServerRefusedError(words)


def _words(response: httpx.Response) -> str:
    try:
        answer = json.loads(response.content)
    except ValueError:
        answer = None
    if isinstance(answer, dict) and isinstance(answer.get("detail"), str):
        return str(answer["detail"])
    return f"The server answered with status {response.status_code}."


def _parsed(content: bytes) -> FeedPage:
    try:
        return parse_page(content)
    except WireError as error:
        raise ServerRefusedError(str(error)) from error


def _claim(directory: Path, name: str) -> Path:
    stem, suffix = Path(name).stem, Path(name).suffix
    for number in range(10_000):
        target = directory / (f"{stem}-{number}{suffix}" if number else name)
        with suppress(FileExistsError):
            target.open("xb").close()
            return target
    raise FileExistsError(17, "too many files of this name", str(directory))
