"""The console without a terminal: one message a line, one answer after the other."""

import asyncio
from pathlib import Path
from typing import TextIO

from channels.console.ask import ask
from channels.console.client import LocalClient, LocalServerError
from channels.console.commands import TypedLineError, parse_line
from channels.console.oneshot import print_answer
from channels.console.render import plain


async def run_piped(
    client: LocalClient, chat: str, downloads: Path, source: TextIO, out: TextIO, err: TextIO
) -> int:
    """Send each line, print its answer, and go on until the input ends; returns the exit code.

    Args:
        client: The server.
        chat: Name of the chat.
        downloads: Where files of answers go.
        source: Where lines come from; read in a thread.
        out: Where answers go.
        err: Where everything else goes.

    Returns:
        0 when every line got its answer, else 1; a server that is gone ends it at once.
    """
    code = 0
    while line := await asyncio.to_thread(source.readline):
        try:
            typed = parse_line(line)
            if typed is None:
                continue
            answer = await ask(client, chat, typed.text, typed.files, downloads, None)
        except TypedLineError as error:
            print(plain(str(error)), file=err)
            code = 1
        except LocalServerError as error:
            print(plain(str(error)), file=err)
            return 1
        else:
            print_answer(answer, out)
            code = 1 if answer.failed else code
    return code
