"""The tool that gives files to people."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

from langchain.tools import ToolRuntime
from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import Field

from agent_core.context import RunContext
from agent_core.events import PresentedFile
from agent_core.paths import OUTPUTS, PathRefusedError, ThreadFiles, virtual_path
from agent_core.subagents.spec import TASK_TOOL
from agent_core.tools.errors import FileToolError

MAX_PRESENTED = 20


@tool(response_format="content_and_artifact")
async def present_files(
    paths: Annotated[
        list[str],
        Field(
            description=f"Paths below {OUTPUTS}, in the order to show", min_length=1, max_length=MAX_PRESENTED
        ),
    ],
    runtime: ToolRuntime[RunContext],
) -> tuple[str, list[dict[str, str]]]:
    """Give files to the people in the chat. Only files below /mnt/user-data/outputs can be given."""
    presented = await asyncio.to_thread(_present, runtime.context.files, paths)
    names = ", ".join(file.name for file in presented)
    # Plain types: what a message carries goes through the checkpoint.
    return f"Presented: {names}", [{"path": file.path, "name": file.name} for file in presented]


def presented_files(messages: Sequence[AnyMessage]) -> tuple[PresentedFile, ...]:
    """Give all files presented in ``messages``, in order, each once. Pure."""
    found: dict[str, PresentedFile] = {}
    for message in messages:
        # What a subagent presented, its task presents.
        if not (isinstance(message, ToolMessage) and message.name in (present_files.name, TASK_TOOL)):
            continue
        if message.status == "error" or not isinstance(message.artifact, list):
            continue
        for entry in message.artifact:
            found.setdefault(entry["path"], PresentedFile(entry["path"], entry["name"]))
    return tuple(found.values())


def _present(files: ThreadFiles, texts: Sequence[str]) -> list[PresentedFile]:
    presented: list[PresentedFile] = []
    for text in texts:
        try:
            with files.open(text):
                # The path as it is, not as it was spelt, so that one file counts once.
                path = virtual_path(text)
        except PathRefusedError as error:
            raise FileToolError(str(error)) from None
        if not str(path).startswith(f"{OUTPUTS}/"):
            raise FileToolError(f"{text}: only files below {OUTPUTS} can be presented")
        presented.append(PresentedFile(str(path), path.name))
    return presented
