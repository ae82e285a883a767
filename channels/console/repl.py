"""The interactive console."""

import asyncio
import shutil
import sys
import uuid
from contextlib import aclosing
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app_or_none
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.styles import Style

from channels.console.client import FOREVER, LinkChanged, LocalClient, LocalServerError
from channels.console.commands import LineCompleter, TypedLineError, TypedMessage, parse_line
from channels.console.conversation import Conversation
from channels.console.piped import run_piped
from channels.console.render import dim, entry_text, file_text, live_fragments, plain
from channels.feed import FeedEntry
from channels.views import RunView

_STYLE = Style.from_dict(
    {"tool": "fg:ansibrightblack", "phase": "fg:ansibrightblack italic", "sign": "fg:ansigreen bold"}
)
_EARLIER_ENTRIES = 6


async def run_repl(
    client: LocalClient, chat: str, home: Path, *, source: Input | None = None, screen: Output | None = None
) -> int:
    """Talk until Ctrl-D, or until the end of piped input; returns the exit code.

    Args:
        client: The server.
        chat: Name of the chat.
        home: Hart's home: the input history and downloads are kept here.
        source: Where keys come from; the terminal by default.
        screen: What the prompt is drawn on; the terminal by default.
    """
    downloads = home / "downloads" / chat
    if source is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        return await run_piped(client, chat, downloads, sys.stdin, sys.stdout, sys.stderr)
    await asyncio.to_thread(home.mkdir, parents=True, exist_ok=True)
    return await _Repl(client, chat, home, downloads, source, screen).run()


class _Repl:
    """One interactive session: a prompt, a listener that prints, a sender that posts in order."""

    def __init__(
        self,
        client: LocalClient,
        chat: str,
        home: Path,
        downloads: Path,
        source: Input | None,
        screen: Output | None,
    ) -> None:
        self._client = client
        self._chat = chat
        self._downloads = downloads
        self._conversation = Conversation()
        self._mine: set[str] = set()
        self._outbox: asyncio.Queue[tuple[str, TypedMessage]] = asyncio.Queue()
        self._up = True
        self._session: PromptSession[str] = PromptSession(
            history=FileHistory(str(home / "console_history")),
            completer=LineCompleter(),
            complete_while_typing=True,
            key_bindings=self._keys(),
            multiline=True,
            style=_STYLE,
            reserve_space_for_menu=4,
            input=source,
            output=screen,
        )
        self._session.app.min_redraw_interval = 0.05

    async def run(self) -> int:
        """Run until the person leaves."""
        try:
            page = await self._client.history(self._chat, _EARLIER_ENTRIES)
        except LocalServerError as error:
            sys.stderr.write(f"{plain(str(error))}\n")
            return 1
        with patch_stdout(raw=True):
            self._say(
                f"Chat “{self._chat}”. /help shows commands, Alt-Enter starts a new line, Ctrl-D leaves."
            )
            for entry in page.entries:
                self._conversation.take(entry)
                self._print(entry_text(entry, self._width(), color=True))
            listener = asyncio.create_task(self._listen(page.cursor))
            sender = asyncio.create_task(self._send())
            # Neither ends by itself unless something is wrong.
            listener.add_done_callback(self._leave)
            sender.add_done_callback(self._leave)
            try:
                # Raw throughout: a key pressed between two prompts must not reach the terminal's own rules.
                with self._session.input.raw_mode():
                    await self._prompt_until_left()
            finally:
                listener.remove_done_callback(self._leave)
                sender.remove_done_callback(self._leave)
                refused = await _end(listener, sender)
            if refused is not None:
                self._say(str(refused))
                return 1
            if self._conversation.busy:
                self._say("The answer will be here when you come back.")
        return 0

    async def _prompt_until_left(self) -> None:
        while True:
            try:
                line = await self._session.prompt_async(self._message)
                typed = parse_line(line)
            except EOFError:
                return
            except TypedLineError as error:
                self._say(str(error))
                continue
            if typed is not None:
                self._queue(typed)

    def _queue(self, typed: TypedMessage) -> None:
        message_id = str(uuid.uuid4())
        self._mine.add(message_id)
        self._conversation.asked(message_id, typed.text)
        self._outbox.put_nowait((message_id, typed))

    async def _send(self) -> None:
        while True:
            message_id, typed = await self._outbox.get()
            try:
                await self._client.post(self._chat, typed.text, message_id, typed.files, patience=FOREVER)
            except LocalServerError as error:
                self._conversation.open.pop(message_id, None)
                self._say(f"Not sent: {error}")

    async def _listen(self, cursor: str) -> None:
        async with aclosing(self._client.follow(self._chat, cursor)) as events:
            async for event in events:
                if isinstance(event, LinkChanged):
                    self._up = event.up
                elif isinstance(event, RunView):
                    self._conversation.progress(event)
                elif self._conversation.take(event):
                    await self._show(event)
                self._session.app.invalidate()

    async def _show(self, entry: FeedEntry) -> None:
        if entry.role == "person" and entry.message_id in self._mine:
            return
        self._print(entry_text(entry, self._width(), color=True))
        if entry.role == "person":
            return
        for file in entry.files:
            try:
                path = await self._client.download(self._chat, file, self._downloads)
            except LocalServerError as error:
                self._say(f"Could not fetch {file.name}: {error}")
            else:
                self._print(file_text(file.name, str(path), color=True))

    def _message(self) -> StyleAndTextTuples:
        fragments: StyleAndTextTuples = []
        app = get_app_or_none()
        # A line that was entered stays on the screen; the live part above it must not.
        if app is None or not app.is_done:
            if not self._up:
                fragments.append(("class:phase", "Reconnecting…\n"))
            elif self._conversation.busy:
                size = self._session.output.get_size()
                fragments.extend(live_fragments(self._conversation.live, size.columns, max(3, size.rows - 8)))
        fragments.append(("class:sign", "› "))
        return fragments

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("enter")
        def _(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
                buffer.complete_state = None
            elif buffer.document.text_before_cursor.endswith("\\"):
                buffer.delete_before_cursor()
                buffer.insert_text("\n")
            else:
                buffer.validate_and_handle()

        @keys.add("escape", "enter")
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add("c-c")
        def _(event: KeyPressEvent) -> None:
            if self._conversation.busy:
                self._queue(TypedMessage("/stop"))
            elif event.current_buffer.text:
                event.current_buffer.reset()
            else:
                self._say("Ctrl-D leaves.")

        return keys

    def _leave(self, ended: "asyncio.Task[None]") -> None:
        if self._session.app.is_running:
            self._session.app.exit(exception=EOFError)

    def _say(self, text: str) -> None:
        sys.stdout.write(f"{dim(text, color=True)}\n")

    def _print(self, text: str) -> None:
        if text:
            sys.stdout.write(f"{text}\n\n")

    def _width(self) -> int:
        return shutil.get_terminal_size().columns


async def _end(listener: "asyncio.Task[None]", sender: "asyncio.Task[None]") -> LocalServerError | None:
    """Cancel both; tells why the listener gave up, if it did."""
    listener.cancel()
    sender.cancel()
    results = await asyncio.gather(listener, sender, return_exceptions=True)
    for result in results:
        if isinstance(result, LocalServerError):
            return result
        if isinstance(result, Exception):
            raise result
    return None
