"""One message, one answer, for scripts and quick questions."""

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from channels.console.ask import Answer, ask
from channels.console.client import LocalClient, LocalServerError
from channels.console.render import answer_text, dim, file_text, phase_text, plain
from channels.views import RunView


async def run_oneshot(
    client: LocalClient,
    chat: str,
    text: str,
    files: Sequence[Path] = (),
    *,
    downloads: Path | None = None,
    as_json: bool = False,
    timeout: float | None = 600.0,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Post a message, print the answer, and return the exit code.

    Args:
        client: The server.
        chat: Name of the chat.
        text: The message.
        files: What to attach.
        downloads: Where files of the answer are saved; the current directory by default. A file that
            is there already is never written over.
        as_json: Print one object ``{thread, text, files: [{name, path}]}`` instead of text.
        timeout: Seconds to wait for the answer; None waits as long as it takes.
        out: Where the answer goes; standard output by default.
        err: Where everything else goes; standard error by default.

    Returns:
        0 when there is an answer, 1 when the run failed, took too long, or the server is away.
    """
    out, err = out or sys.stdout, err or sys.stderr
    progress = _Progress(err) if err.isatty() and not as_json else None
    try:
        answer = await ask(client, chat, text, files, downloads or Path(), timeout, progress)
    except TimeoutError:
        print(
            f"No answer within {timeout:g} s. It will be in the chat “{plain(chat)}” when it is there.",
            file=err,
        )
        return 1
    except LocalServerError as error:
        print(plain(str(error)), file=err)
        return 1
    finally:
        if progress is not None:
            progress.clear()
    if as_json:
        print(json_text(chat, answer), file=out)
    else:
        print_answer(answer, out)
    return 1 if answer.failed else 0


def print_answer(answer: Answer, out: TextIO) -> None:
    """Print an answer: rendered on a terminal, plain elsewhere."""
    color = out.isatty()
    if answer.text:
        print(answer_text(answer.text, shutil.get_terminal_size().columns, color=color), file=out, flush=True)
    for file in answer.files:
        print(file_text(file.name, str(file.path), color=color), file=out, flush=True)


def json_text(chat: str, answer: Answer) -> str:
    """The answer as one line of JSON. Pure."""
    files = [{"name": file.name, "path": str(file.path)} for file in answer.files]
    return json.dumps({"thread": chat, "text": answer.text, "files": files})


class _Progress:
    """One line on a terminal that says how the run stands."""

    def __init__(self, err: TextIO) -> None:
        self._err = err
        self._shown = False

    def __call__(self, view: RunView) -> None:
        running = [tool.label for tool in view.tools if not tool.done]
        line = plain(running[-1] if running else phase_text(view)).replace("\n", " ")
        width = shutil.get_terminal_size().columns - 2
        self._err.write(f"\r\x1b[K{dim(line[:width] + '…', color=True)}")
        self._err.flush()
        self._shown = True

    def clear(self) -> None:
        if self._shown:
            self._err.write("\r\x1b[K")
            self._err.flush()
