"""Knows which writes of a thread are under way, so that the end of a run can wait for them.

When a run is cancelled, LangGraph stores what became of its tasks in background tasks of its own
and does not wait for them. They would outlive the run, and could meet a closed store.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig

# A cancelled task ends, its callback starts the write, and the write begins: one turn each.
_TURNS = 3


class PendingWrites:
    """The writes under way, by thread."""

    def __init__(self) -> None:
        self._tasks: dict[str, set[asyncio.Task[Any]]] = {}

    @contextmanager
    def write(self, config: RunnableConfig) -> Iterator[None]:
        """Count the current task as writing for the thread in ``config``."""
        thread_id = str(config["configurable"]["thread_id"])
        task = asyncio.current_task()
        assert task is not None
        tasks = self._tasks.setdefault(thread_id, set())
        tasks.add(task)
        try:
            yield
        finally:
            tasks.discard(task)
            if not tasks and self._tasks.get(thread_id) is tasks:
                del self._tasks[thread_id]

    async def settle(self, thread_id: str) -> None:
        """Wait until nothing is being written for a thread, also what is about to begin."""
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        while tasks := self._tasks.get(thread_id, set()) - {asyncio.current_task()}:
            await asyncio.wait(tasks)
