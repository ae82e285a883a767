"""Dies at every point where a run may die, then goes on. Run as a program by test_crash_and_resume.

For each n a child process runs the agent and exits hard when the guard is asked for the n-th time,
that is just before the n-th model call, tool call or write. A second child does what is left. What
it found is printed as one line of JSON. The children are forked before any thread or loop exists.
"""

import asyncio
import importlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, tool

from agent_core.checkpoints import open_checkpoints
from agent_core.events import RunEnded
from agent_core.models.catalog import ModelCatalog
from agent_core.models.spec import ModelSpec
from agent_core.paths import ThreadFiles
from agent_core.runtime import AgentRuntime, RunRequest

CRASHED = 9

# Before the fork, or each child would spend seconds on them.
SLOW_IMPORTS = ("langchain_openai", "agent_core.postgres_checkpoints")


def marking_tool(log: Path) -> BaseTool:
    """Give a tool that writes a line per call, so that repeated calls can be counted."""

    @tool
    async def mark(word: str) -> str:
        """Write down a word."""
        with log.open("a") as file:
            file.write(f"{word}\n")
        return f"marked {word}"

    return mark


class Worker:
    """What one process needs to run the agent."""

    def __init__(self, base_url: str, api_key: str, home: Path, url: str | None) -> None:
        arguments = {"model": "test-model", "base_url": base_url, "api_key": api_key}
        spec = ModelSpec("test-model", "langchain_openai:ChatOpenAI", arguments)
        self._models = ModelCatalog([spec], None, 30)
        self._home = home
        self._url = url

    async def run(self, thread: str, guard: Callable[[], None]) -> dict[str, Any]:
        """Do run ``r1`` in a thread, or what is left of it."""
        async with open_checkpoints(self._url, self._home / "checkpoints.db") as checkpoints:
            log = self._home / f"{thread}.log"
            runtime = AgentRuntime(self._models, checkpoints, [marking_tool(log)])
            files = ThreadFiles(self._home / thread)
            request = RunRequest("r1", thread, "do r1", "test-model", files, guard)
            events = [event async for event in runtime.run(request)]
            end = events[-1]
            assert isinstance(end, RunEnded)
            await runtime.prune(thread)
            return {
                "answer": end.answer,
                "status": end.status,
                "input_tokens": end.usage.input_tokens,
                "history": [item.text for item in await runtime.history(thread)],
                "marks": log.read_text().split(),
            }


def exit_at(count: int) -> Callable[[], None]:
    """Give a guard that ends the process, without any clean-up, at its ``count``-th question."""
    asked = 0

    def guard() -> None:
        nonlocal asked
        asked += 1
        if asked == count:
            os._exit(CRASHED)

    return guard


def in_child(work: Callable[[], None]) -> int:
    """Do ``work`` in a forked process and give its exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            sys.stdout.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> None:
    """Go through all points, until a run comes through without dying."""
    base_url, api_key, home, url, step = sys.argv[1:6]
    for module in SLOW_IMPORTS:
        importlib.import_module(module)
    worker = Worker(base_url, api_key, Path(home), None if url == "-" else url)
    for point in range(1, 60, int(step)):
        thread = f"thread-{point}"
        code = in_child(lambda t=thread, n=point: asyncio.run(worker.run(t, exit_at(n))))
        if code == 0:
            return

        def go_on(thread: str = thread, point: int = point) -> None:
            found = asyncio.run(worker.run(thread, lambda: None))
            print(json.dumps({"point": point, **found}))

        if code != CRASHED or in_child(go_on) != 0:
            raise SystemExit(f"point {point}: unexpected end")


if __name__ == "__main__":
    main()
