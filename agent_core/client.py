"""The agent inside another program: no chat, no server, no configuration but what is given here."""

import asyncio
import contextlib
import logging
import mimetypes
import re
import shutil
import tempfile
import uuid
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from filelock import FileLock, Timeout
from langchain_core.tools import BaseTool

from agent_core.checkpoints import Checkpoints, open_checkpoints
from agent_core.events import PresentedFile, RunEnded, RunEvent, RunStatus, Usage
from agent_core.middlewares.chain import ChainParts
from agent_core.models.catalog import ModelCatalog
from agent_core.models.entries import Entries, read_entries, spec_of
from agent_core.models.spec import ModelSpec
from agent_core.modes import Mode
from agent_core.paths import UPLOADS, ThreadFiles
from agent_core.runtime import AgentRuntime, AgentSettings, RunRequest, Upload
from agent_core.skills.loader import load_skills
from agent_core.turns import Said

_log = logging.getLogger(__name__)

Models = Sequence[ModelSpec | Mapping[str, Any]] | Path | str
"""Models, or a YAML file that lists them under ``models``, such as ``config.yaml``."""

DEFAULT_THREAD = "main"

_THREAD_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_CALL_SECONDS = 600.0
_FILE_BYTES = 100 << 20
_MOST_ENTRIES = 100_000


class HomeInUseError(Exception):
    """Another client works in the folder."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a run ended.

    Args:
        text: What the agent said; if it failed, what went wrong and what can be done.
        files: Files it wants people to have; :meth:`AsyncHartClient.read_file` gives their content.
        usage: Tokens.
        ok: False if the run failed.
        error: For the log, when it failed; carries no secret.
    """

    text: str
    files: tuple[PresentedFile, ...]
    usage: Usage
    ok: bool
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ThreadSummary:
    """One conversation in a list.

    Args:
        id: Its id.
        title: What it is about; None before the first answer.
    """

    id: str
    title: str | None


class AsyncHartClient:
    """The agent, embedded. Use it as an asynchronous context manager.

    Different threads run side by side; within one thread, runs wait for each other.

    Args:
        models: See :data:`Models`; at least one.
        home: Where conversations and files are kept; one client at a time works there. None for a
            folder that is removed at the end.
        database_url: A Postgres server for the conversations, instead of a file in ``home``.
        default_model: Name of the model to use where none is asked for; None for the first.
        tools: Further tools, beside those for files.
        skills: Folder that the agent can read as ``/mnt/skills``; it is told of the skills in its folders
            ``public`` and ``custom``.
        settings: What else is set about the agent.
        parts: What its middlewares ask others for.
    """

    def __init__(
        self,
        models: Models,
        home: Path | str | None = None,
        *,
        database_url: str | None = None,
        default_model: str | None = None,
        tools: Sequence[BaseTool] = (),
        skills: Path | None = None,
        settings: AgentSettings | None = None,
        parts: ChainParts | None = None,
    ) -> None:
        self._models = models
        self._given_home = None if home is None else Path(home)
        self._database_url = database_url
        self._default_model = default_model
        self._tools = tuple(tools)
        self._skills = skills
        self._settings = settings
        self._parts = parts
        self._stack = AsyncExitStack()
        self._open: _Open | None = None
        self._locks: dict[str, asyncio.Lock] = {}

    async def __aenter__(self) -> Self:
        """Open the home and build the models.

        Raises:
            ModelConfigError: A model is wrong; the message says which and why.
            HomeInUseError: Another client works in the home.
        """
        async with AsyncExitStack() as stack:
            home = await asyncio.to_thread(self._prepare, stack)
            catalog = await asyncio.to_thread(self._catalog)
            checkpoints = await stack.enter_async_context(
                open_checkpoints(self._database_url, home / "checkpoints.db")
            )
            settings = await asyncio.to_thread(self._with_skills)
            runtime = AgentRuntime(catalog, checkpoints, self._tools, settings, self._parts)
            self._open = _Open(home, catalog, checkpoints, runtime)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._open = None
        await self._stack.aclose()

    async def chat(
        self,
        message: str,
        *,
        thread: str = DEFAULT_THREAD,
        model: str | None = None,
        files: Sequence[Path | str] = (),
        user_id: str | None = None,
        mode: Mode | str = Mode.ULTRA,
    ) -> Answer:
        """Ask something and wait for the answer.

        Args:
            message: What to ask.
            thread: Which conversation; a new id begins a new one. Letters, digits, ``.``, ``_`` and
                ``-``, at most 100.
            model: Name of a model; None for the default.
            files: Copied into the conversation, where the agent can read them.
            user_id: On whose behalf, for what is remembered and counted by person.
            mode: How much it may spend: a :class:`~agent_core.modes.Mode`, or its name.

        Raises:
            ValueError: The thread's id, a file or the mode cannot be used.
            ModelConfigError: There is no such model.
        """
        stream = self.stream(message, thread=thread, model=model, files=files, user_id=user_id, mode=mode)
        async with contextlib.aclosing(stream) as events:
            async for event in events:
                if isinstance(event, RunEnded):
                    return _answer(event)
        raise RuntimeError("a run ended without saying so")

    async def stream(
        self,
        message: str,
        *,
        thread: str = DEFAULT_THREAD,
        model: str | None = None,
        files: Sequence[Path | str] = (),
        user_id: str | None = None,
        mode: Mode | str = Mode.ULTRA,
    ) -> AsyncGenerator[RunEvent, None]:
        """Ask something and tell what happens meanwhile; the last event is ``RunEnded``.

        Closing the generator ends the run; what it had done by then stays in the conversation.

        Args:
            message, thread, model, files, user_id, mode: See :meth:`chat`.

        Raises:
            ValueError, ModelConfigError: See :meth:`chat`.
        """
        opened = self._opened
        place = self._files(thread)
        async with self._locks.setdefault(thread, asyncio.Lock()):
            uploads = [await asyncio.to_thread(_take_in, place, Path(file)) for file in files]
            request = RunRequest(
                run_id=uuid.uuid4().hex,
                thread_id=thread,
                text=message,
                model=model or opened.catalog.default,
                files=place,
                guard=_always_ours,
                uploads=tuple(uploads),
                user_id=user_id,
                private=True,
                mode=Mode(mode),
            )
            try:
                async with contextlib.aclosing(opened.runtime.run(request)) as events:
                    async for event in events:
                        yield event
            finally:
                await opened.runtime.prune(thread)

    async def threads(self) -> list[ThreadSummary]:
        """Give all conversations, the one used last first."""
        opened = self._opened
        found = []
        for thread_id in await opened.checkpoints.threads():
            state = await opened.runtime.state(thread_id)
            found.append(ThreadSummary(thread_id, state.get("title")))
        return found

    async def history(self, thread: str = DEFAULT_THREAD) -> list[Said]:
        """Give what was said in a conversation, oldest first; what was summed up is no longer there."""
        return await self._opened.runtime.history(thread)

    async def delete(self, thread: str) -> None:
        """Delete a conversation and its files."""
        opened, place = self._opened, self._files(thread)
        async with self._locks.setdefault(thread, asyncio.Lock()):
            await opened.runtime.delete(thread)
            await asyncio.to_thread(shutil.rmtree, place.root, ignore_errors=True)

    async def files(self, thread: str = DEFAULT_THREAD) -> list[str]:
        """Give the paths of all files of a conversation, such as ``/mnt/user-data/outputs/a.md``."""
        return await asyncio.to_thread(_listed, self._files(thread))

    async def read_file(self, path: str, thread: str = DEFAULT_THREAD) -> bytes:
        """Give the content of a file of a conversation.

        Raises:
            PathRefusedError: There is no such file, it is none of the conversation's, or it is larger than
                100 MiB.
        """
        return await asyncio.to_thread(self._files(thread).read, path, _FILE_BYTES)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, in order."""
        return self._opened.catalog.names

    @property
    def _opened(self) -> "_Open":
        if self._open is None:
            raise RuntimeError("the client is not open; use it in a with statement")
        return self._open

    def _files(self, thread: str) -> ThreadFiles:
        if not _THREAD_ID.fullmatch(thread):
            raise ValueError(
                f"thread id {thread[:100]!r}: use letters, digits, '.', '_' and '-', beginning with a letter "
                "or digit, at most 100"
            )
        return ThreadFiles(self._opened.home / "threads" / thread, self._skills)

    def _prepare(self, stack: AsyncExitStack) -> Path:
        if self._given_home is None:
            return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hart-")))
        home = self._given_home.resolve()
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(home / "client.lock")
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise HomeInUseError(f"another client works in {home}") from None
        stack.callback(lock.release)
        return home

    def _with_skills(self) -> AgentSettings:
        found = load_skills(self._skills)
        for problem in found.problems:
            _log.warning("A skill is left out. %s", problem)
        settings = self._settings or AgentSettings()
        return replace(settings, skills=settings.skills or found.skills)

    def _catalog(self) -> ModelCatalog:
        given = self._models
        entries = (
            read_entries(Path(given))
            if isinstance(given, str | Path)
            else Entries(tuple(one if isinstance(one, ModelSpec) else spec_of(one) for one in given))
        )
        settings = self._settings
        seconds = settings.chain.retry.call_seconds if settings is not None else _CALL_SECONDS
        catalog = ModelCatalog(entries.specs, self._default_model or entries.default, seconds)
        catalog.check()
        return catalog


@dataclass(frozen=True, slots=True)
class _Open:
    home: Path
    catalog: ModelCatalog
    checkpoints: Checkpoints
    runtime: AgentRuntime


def _always_ours() -> None:
    """The fence of a home that nobody else works in."""


def _answer(ended: RunEnded) -> Answer:
    return Answer(ended.answer, ended.files, ended.usage, ended.status is RunStatus.DONE, ended.error)


def _take_in(place: ThreadFiles, source: Path) -> Upload:
    """Copy a file into the uploads, under a name that is free."""
    if not source.is_file():
        raise ValueError(f"{source}: is no file")
    place.ensure()
    folder = place.root / "uploads"
    target = folder / source.name
    number = 1
    while target.exists():
        number += 1
        target = folder / f"{source.stem}-{number}{source.suffix}"
    shutil.copyfile(source, target)
    mime = mimetypes.guess_type(source.name)[0]
    return Upload(f"{UPLOADS}/{target.name}", source.name, target.stat().st_size, mime)


def _listed(place: ThreadFiles) -> list[str]:
    if not place.root.is_dir():
        return []
    return sorted(str(path) for path, _ in place.walk("/mnt/user-data", _MOST_ENTRIES))
