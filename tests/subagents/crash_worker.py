"""A process that dies while subagents work. Run as a program by test_subagents_survive.py.

With ``points`` it dies at every point where a run may die, each time in a child, and a second child
goes on (see ``tests/agent_core/crash_worker.py``). With ``hang`` the tool of one subagent never ends,
and the process waits to be killed; each event is told on a line.
"""

import asyncio
import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, tool

from agent_core.checkpoints import open_checkpoints
from agent_core.events import RunEnded, RunEvent
from agent_core.models.catalog import ModelCatalog
from agent_core.models.spec import ModelSpec
from agent_core.paths import ThreadFiles
from agent_core.runtime import AgentRuntime, RunRequest
from tests.agent_core.crash_worker import CRASHED, SLOW_IMPORTS, exit_at, in_child

HANGS = "tea-2"
HANGING = "a tool hangs"
MOST_POINTS = 120


def marking_tool(log: Path, hangs: str | None = None) -> BaseTool:
    """Give a tool that writes a line per call; the one with the word ``hangs`` does not end."""

    @tool
    async def mark(word: str) -> str:
        """Write down a word."""
        with log.open("a") as file:
            file.write(f"{word}\n")
        if word == hangs:
            print(HANGING, flush=True)
            await asyncio.Event().wait()
        return f"marked {word}"

    return mark


class Worker:
    """What one process needs to run the agent."""

    def __init__(self, base_url: str, api_key: str, home: Path, url: str | None) -> None:
        arguments = {"model": "test-model", "base_url": base_url, "api_key": api_key}
        self._models = ModelCatalog(
            [ModelSpec("test-model", "langchain_openai:ChatOpenAI", arguments)], None, 30
        )
        self._home = home
        self._url = url

    async def run(
        self,
        thread: str,
        guard: Callable[[], None] = lambda: None,
        hangs: str | None = None,
        told: Callable[[RunEvent], None] = lambda _: None,
    ) -> dict[str, Any]:
        """Do run ``r1`` in a thread, or what is left of it."""
        async with open_checkpoints(self._url, self._home / "checkpoints.db") as checkpoints:
            log = self._home / f"{thread}.log"
            runtime = AgentRuntime(self._models, checkpoints, [marking_tool(log, hangs)])
            request = RunRequest(
                "r1", thread, "compare", "test-model", ThreadFiles(self._home / thread), guard
            )
            async for event in runtime.run(request):
                told(event)
            assert isinstance(event, RunEnded)
            await runtime.prune(thread)
            return {
                "answer": event.answer,
                "input_tokens": event.usage.input_tokens,
                "marks": log.read_text().split(),
            }


def main() -> None:
    """Do as the command line says."""
    base_url, api_key, home, url, what = sys.argv[1:6]
    for module in SLOW_IMPORTS:
        importlib.import_module(module)
    worker = Worker(base_url, api_key, Path(home), None if url == "-" else url)
    if what == "hang":
        asyncio.run(worker.run("thread", hangs=HANGS, told=lambda event: print(event, flush=True)))
        return
    for point in range(1, MOST_POINTS, int(what)):
        thread = f"thread-{point}"
        code = in_child(lambda t=thread, n=point: asyncio.run(worker.run(t, exit_at(n))))
        if code == 0:
            return

        def go_on(thread: str = thread, point: int = point) -> None:
            print(json.dumps({"point": point, **asyncio.run(worker.run(thread))}))

        if code != CRASHED or in_child(go_on) != 0:
            raise SystemExit(f"point {point}: unexpected end")


if __name__ == "__main__":
    main()
