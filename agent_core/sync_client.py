"""The embedded client for programs that know no event loop."""

import asyncio
import contextlib
from collections.abc import Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from agent_core.client import DEFAULT_THREAD, Answer, AsyncHartClient, ThreadSummary
from agent_core.events import RunEvent
from agent_core.modes import Mode
from agent_core.turns import Said

_Result = TypeVar("_Result")


class HartClient:
    """The agent, embedded; what :class:`~agent_core.client.AsyncHartClient` does, without ``await``.

    Use it in a ``with`` statement, from one thread. It has an event loop of its own, which runs during
    its calls; where one is running already, take the other class.

    Args:
        arguments, options: Those of ``AsyncHartClient``.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._client = AsyncHartClient(*arguments, **options)
        self._runner: asyncio.Runner | None = None

    def __enter__(self) -> Self:
        """Open it; see ``AsyncHartClient`` for what this raises."""
        runner = asyncio.Runner()
        try:
            runner.run(self._client.__aenter__())
        except BaseException:
            runner.close()
            raise
        self._runner = runner
        return self

    def __exit__(self, *_: object) -> None:
        runner, self._runner = self._runner, None
        if runner is not None:
            with runner:
                runner.run(self._client.__aexit__())

    def chat(
        self,
        message: str,
        *,
        thread: str = DEFAULT_THREAD,
        model: str | None = None,
        files: Sequence[Path | str] = (),
        user_id: str | None = None,
        mode: Mode | str = Mode.ULTRA,
    ) -> Answer:
        """Ask something and wait for the answer."""
        return self._run(
            self._client.chat(message, thread=thread, model=model, files=files, user_id=user_id, mode=mode)
        )

    def stream(
        self,
        message: str,
        *,
        thread: str = DEFAULT_THREAD,
        model: str | None = None,
        files: Sequence[Path | str] = (),
        user_id: str | None = None,
        mode: Mode | str = Mode.ULTRA,
    ) -> Iterator[RunEvent]:
        """Ask something and tell what happens meanwhile. The run goes on while the next event is awaited."""
        events = self._client.stream(
            message, thread=thread, model=model, files=files, user_id=user_id, mode=mode
        )
        try:
            with contextlib.suppress(StopAsyncIteration):
                while True:
                    yield self._run(events.__anext__())
        finally:
            self._run(events.aclose())

    def threads(self) -> list[ThreadSummary]:
        """Give all conversations, the one used last first."""
        return self._run(self._client.threads())

    def history(self, thread: str = DEFAULT_THREAD) -> list[Said]:
        """Give what was said in a conversation, oldest first."""
        return self._run(self._client.history(thread))

    def delete(self, thread: str) -> None:
        """Delete a conversation and its files."""
        self._run(self._client.delete(thread))

    def files(self, thread: str = DEFAULT_THREAD) -> list[str]:
        """Give the paths of all files of a conversation."""
        return self._run(self._client.files(thread))

    def read_file(self, path: str, thread: str = DEFAULT_THREAD) -> bytes:
        """Give the content of a file of a conversation."""
        return self._run(self._client.read_file(path, thread))

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, in order."""
        return self._client.models

    def _run(self, step: Coroutine[Any, Any, _Result]) -> _Result:
        if self._runner is None:
            step.close()
            raise RuntimeError("the client is not open; use it in a with statement")
        return self._runner.run(step)
