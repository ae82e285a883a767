"""Lines typed at the prompt: the local ``/file`` command, and completion."""

import io
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

COMMANDS = {
    "/help": "what Hart can do",
    "/new": "start over in this chat",
    "/status": "what is going on",
    "/models": "choose a model",
    "/mode": "choose how thorough to be",
    "/stop": "stop the current answer",
    "/whoami": "how Hart sees you",
    "/file": "send a file: /file PATH [text]",
}
"""Commands offered for completion; all but ``/file`` are the server's."""


@dataclass(frozen=True, slots=True)
class TypedMessage:
    """A line as it is to be posted."""

    text: str
    files: tuple[Path, ...] = ()


class TypedLineError(ValueError):
    """A line that cannot be sent as it stands. The text says what to do."""


def parse_line(line: str) -> TypedMessage | None:
    """What to post for a line, or None for an empty one. Reads the disk only to find a file.

    Raises:
        TypedLineError: ``/file`` without a readable path.
    """
    text = line.strip()
    if text != "/file" and not text.startswith(("/file ", "/file\t")):
        return TypedMessage(text) if text else None
    path, rest = _split_path(text[len("/file") :].strip())
    if not path:
        raise TypedLineError("Say which file: /file PATH [text]")
    found = Path(path).expanduser()
    if not found.is_file():
        raise TypedLineError(f"There is no file {path}.")
    return TypedMessage(rest, (found,))


def _split_path(rest: str) -> tuple[str, str]:
    stream = io.StringIO(rest)
    lexer = shlex.shlex(stream, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        path = lexer.get_token() or ""
    except ValueError as error:
        raise TypedLineError("A quote is missing in the path.") from error
    # The lexer has read exactly the path and the space after it.
    return path, stream.read().strip()


class LineCompleter(Completer):
    """Completes commands, and paths after ``/file``."""

    def __init__(self) -> None:
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Completions for the text before the cursor."""
        text = document.text_before_cursor
        if text.startswith("/file "):
            typed = text[len("/file ") :]
            yield from self._paths.get_completions(Document(typed, len(typed)), complete_event)
        elif text.startswith("/") and " " not in text and "\n" not in text:
            for name, words in COMMANDS.items():
                if name.startswith(text):
                    yield Completion(name, start_position=-len(text), display_meta=words)
