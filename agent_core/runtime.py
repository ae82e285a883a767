"""Runs the agent: starts a run, resumes one, ends one, and tells what happens meanwhile."""

import asyncio
import contextvars
import itertools
import logging
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from langchain_core.messages import AnyMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.types import StateSnapshot

from agent_core import fence
from agent_core.checkpoints import Checkpoints
from agent_core.context import RunContext
from agent_core.events import RunEnded, RunEvent, RunStatus, SubagentStep
from agent_core.fence import Guard
from agent_core.human_message import Upload as Upload
from agent_core.human_message import human_message, uploaded_files
from agent_core.lead_agent import MODEL_NODE, LeadAgent, make_lead_agent
from agent_core.middlewares.chain import ChainBuilder, ChainParts, ChainSettings
from agent_core.middlewares.terminal_response import NOTHING_TO_SAY
from agent_core.models.catalog import ModelCatalog
from agent_core.models.errors import ModelFailedError
from agent_core.models.offline import OfflineChatModel
from agent_core.modes import Mode
from agent_core.paths import ThreadFiles
from agent_core.prompt import system_prompt
from agent_core.skills.skill import Skill
from agent_core.state import ThreadState
from agent_core.stream_events import StreamEvents, started
from agent_core.subagents.spec import SubagentSettings, SubagentSpec
from agent_core.subagents.team import SubagentTeam
from agent_core.summary import deletable
from agent_core.tools.present import presented_files
from agent_core.tools.thread_tools import file_tools
from agent_core.tracing import disable_stray_tracing
from agent_core.turns import Said, closing, conversation, ending, turn_of, usage

_log = logging.getLogger(__name__)

_INTERRUPTED = "(This request was interrupted before I could answer it.)"

# In the metadata of each checkpoint: the run it was written for.
_TURN = "turn"

# How many steps are stored before those that nothing needs any more are deleted.
_STEPS_KEPT = 12

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """What is configured about the agent.

    Args:
        instructions: The operator's addition to the system prompt.
        chain: What is configured about its middlewares.
        subagents: Kinds of subagents beside the built-in ones.
        skills: What the agent and its subagents are told of; the files lie at their locations.
    """

    instructions: str = ""
    chain: ChainSettings = field(default_factory=ChainSettings)
    subagents: tuple[SubagentSpec, ...] = ()
    skills: tuple[Skill, ...] = ()


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One run.

    Args:
        run_id: Unique, and the same when the run is tried again.
        thread_id: The conversation. The caller sees to it that a thread has one run at a time.
        text: What the person wrote.
        model: Name of a configured model.
        files: The thread's files.
        guard: Asked before each act; raises :class:`~agent_core.fence.FencedError`.
        uploads: Files that came with the message.
        notes: Facts about the message for the model, one line each.
        fresh: True when nobody can have begun this run, and every earlier one of the thread has ended
            or was abandoned. Saves a read of the checkpoints; False is always right.
        user_id, private, interactive, mode, token_budget: See :class:`~agent_core.context.RunContext`.
    """

    run_id: str
    thread_id: str
    text: str
    model: str
    files: ThreadFiles
    guard: Guard = field(repr=False)
    uploads: tuple[Upload, ...] = ()
    notes: tuple[str, ...] = ()
    fresh: bool = False
    user_id: str | None = None
    private: bool = False
    interactive: bool = True
    mode: Mode = Mode.ULTRA
    token_budget: int | None = None


class AgentRuntime:
    """Everything needed to run the agent; one per process.

    Args:
        models: The configured models.
        checkpoints: Where the state of threads is kept.
        tools: Further tools, offered after those for the thread's files.
        settings: What is configured about the agent.
        parts: What the middlewares ask others for.

    Raises:
        SubagentConfigError: A kind of subagent is defined in a way that cannot work.
    """

    def __init__(
        self,
        models: ModelCatalog,
        checkpoints: Checkpoints,
        tools: Sequence[BaseTool] = (),
        settings: AgentSettings | None = None,
        parts: ChainParts | None = None,
    ) -> None:
        disable_stray_tracing()
        self._models = models
        self._checkpoints = checkpoints
        self._tools = [*file_tools(), *tools]
        settings = settings or AgentSettings()
        self._prompt = system_prompt(settings.instructions, settings.skills)
        self._chains = ChainBuilder(models, settings.chain, parts or ChainParts(), settings.skills)
        self._team = SubagentTeam(
            models,
            self._tools,
            SubagentSettings(
                settings.chain.subagents_at_once, settings.chain.subagents_per_run, settings.subagents
            ),
            settings.instructions,
            self._chains.build_for_subagent,
            settings.skills,
        )
        self._agents: dict[str, LeadAgent] = {}
        self._state_agent: LeadAgent | None = None

    async def run(self, request: RunRequest) -> AsyncGenerator[RunEvent, None]:
        """Do a run, or what is left of it, and tell what happens; the last event is RunEnded.

        A run whose process died goes on where it stood; one that had ended only yields its end.
        Cancelling the task that consumes this stops the model call and the tools, and repairs
        nothing: run it again to go on, or :meth:`abandon` it.

        Raises:
            ModelConfigError: There is no such model, or it cannot be built.
            FencedError: The run is no longer ours.
            Exception: Whatever else went wrong; the run may be tried again.
        """
        agent = await self._agent(request.model)
        # The fence is set in a context of its own, since a generator shares that of its consumer.
        context = contextvars.copy_context()
        context.run(fence.set_guard, request.guard)
        events = self._events(agent, request)
        try:
            while (event := await _in_context(context, anext(events, None))) is not None:
                yield event
        finally:
            await _in_context(context, events.aclose())
            await self._checkpoints.settle(request.thread_id)

    async def abandon(self, thread_id: str, run_id: str, note: str, guard: Guard | None = None) -> None:
        """End a run that will not go on, so that the conversation stays whole.

        Calls without a result are answered as interrupted, results that were there are kept, and
        ``note`` becomes the answer. Does nothing when the run had ended, or never began.

        Args:
            thread_id: The conversation; none of its runs may be going on.
            run_id: The run.
            note: What to say in place of an answer.
            guard: Asked before the write, as in a run.

        Raises:
            FencedError: The guard says that the thread is no longer ours.
        """
        agent = await self._reader()
        state = await agent.aget_state(_config(thread_id))
        if _turn_id(state) == run_id:
            context = contextvars.copy_context()
            context.run(fence.set_guard, guard)
            await _in_context(context, self._close(agent, state, thread_id, run_id, note))

    async def fork(self, source: str, target: str) -> None:
        """Have a thread begin with what was said in another; nothing happens when it has begun."""
        agent = await self._reader()
        if (await agent.aget_state(_config(target))).values:
            return
        said = _messages(await agent.aget_state(_config(source)))
        if said:
            await agent.aupdate_state(_config(target), {"messages": said}, as_node=MODEL_NODE)

    async def history(self, thread_id: str) -> list[Said]:
        """Give what was said in a thread, oldest first, without tool calls."""
        agent = await self._reader()
        state = await agent.aget_state(_config(thread_id))
        return conversation(_messages(state))

    async def state(self, thread_id: str) -> ThreadState:
        """Give all that is kept of a thread: title, plan, artifacts, tokens and more; empty for none."""
        agent = await self._reader()
        state = await agent.aget_state(_config(thread_id))
        return cast("ThreadState", state.values)

    async def prune(self, thread_id: str) -> None:
        """Delete stored steps that nothing needs any more. Meant for after each run."""
        await self._checkpoints.prune(thread_id)

    async def delete(self, thread_id: str) -> None:
        """Delete all state of a thread; its files stay."""
        await self._checkpoints.delete(thread_id)

    async def _agent(self, model: str) -> LeadAgent:
        if model not in self._agents:
            # The first use of a model may import for seconds; the loop goes on meanwhile.
            built = await asyncio.to_thread(self._build, model)
            self._agents.setdefault(model, built)
        return self._agents[model]

    async def _reader(self) -> LeadAgent:
        """Give an agent that is only used to read and write state, so that no model is needed."""
        if self._state_agent is None:
            self._state_agent = await asyncio.to_thread(
                make_lead_agent, OfflineChatModel(), self._tools, (), self._checkpoints.saver, self._prompt
            )
        return self._state_agent

    def _build(self, model: str) -> LeadAgent:
        chain = self._chains.build(model)
        tools = [*self._tools, self._team.task_tool(model)]
        return make_lead_agent(self._models.get(model), tools, chain, self._checkpoints.saver, self._prompt)

    async def _events(self, agent: LeadAgent, request: RunRequest) -> AsyncGenerator[RunEvent, None]:
        config = _config(request.thread_id, request.run_id)
        begun = False
        messages: list[AnyMessage] = []
        values: dict[str, Any] = {}
        if not request.fresh:
            state = await agent.aget_state(config)
            before = _turn_id(state)
            begun = before == request.run_id
            messages = _messages(state)
            if begun and not state.tasks:
                # Never state.next: it leaves out tasks whose result is stored but not yet applied.
                yield _ended(await self._close(agent, state, request.thread_id, request.run_id, _INTERRUPTED))
                return
            if before is not None and not begun:
                await self._close(agent, state, request.thread_id, before, _INTERRUPTED)
        for event in started((turn_of(messages, request.run_id) or ()) if begun else ()):
            yield event
        steps = itertools.count(1)
        stream = StreamEvents(show_reasoning=self._models.spec(request.model).show_reasoning)
        try:
            async for item in agent.astream(
                None if begun else _input(request),
                config,
                context=_context(request),
                stream_mode=["messages", "updates", "values", "custom"],
                durability="sync",
            ):
                mode, data = cast("tuple[str, Any]", item)
                if mode == "values":
                    values, messages = data, data["messages"]
                for told in stream.read(mode, data):
                    yield told
                step = mode == "values" or isinstance(data, SubagentStep)
                if step and next(steps) % _STEPS_KEPT == 0:
                    await self._thin_out(request)
        except ModelFailedError as error:
            yield _ended(await self._failed(agent, request, error))
        else:
            await self._forget(agent, request, values)
            yield _ended(turn_of(messages, request.run_id) or ())

    async def _thin_out(self, request: RunRequest) -> None:
        """Delete stored steps in the midst of a run: each holds the whole conversation."""
        fence.check()
        try:
            await self._checkpoints.prune(request.thread_id)
        except Exception:  # noqa: BLE001 - what is left goes the next time; no reason to end a run
            _log.exception("run %s: stored steps were not pruned", request.run_id)

    async def _forget(self, agent: LeadAgent, request: RunRequest, values: Mapping[str, Any]) -> None:
        """Delete the messages of earlier turns that a summary stands for."""
        gone = deletable(values.get("messages", ()), values.get("summary"), request.run_id)
        if gone:
            update = {
                "messages": [RemoveMessage(id=message_id) for message_id in gone],
                "reminders": {message_id: [] for message_id in gone},
            }
            config = _config(request.thread_id, request.run_id)
            await agent.aupdate_state(config, update, as_node=MODEL_NODE)

    async def _failed(
        self, agent: LeadAgent, request: RunRequest, error: ModelFailedError
    ) -> Sequence[AnyMessage]:
        """Write into the history that the model failed for good; give the turn as it is then."""
        _log.warning("run %s: the model failed for good: %s", request.run_id, error.detail)
        state = await agent.aget_state(_config(request.thread_id))
        detail = f"{error.fault}: {error.detail}"
        return await self._close(agent, state, request.thread_id, request.run_id, error.people, detail)

    async def _close(
        self,
        agent: LeadAgent,
        state: StateSnapshot,
        thread_id: str,
        run_id: str,
        note: str,
        error: str | None = None,
    ) -> Sequence[AnyMessage]:
        """End the turn of ``run_id`` if it is there and has not ended; give it as it is then."""
        turn = turn_of(_messages(state), run_id)
        if turn is None:
            return ()
        if not state.tasks and ending(turn) is not None:
            return turn
        messages = closing(turn, note, error)
        # As if the model had said it: the graph then knows no next step. One write, so all or nothing.
        await agent.aupdate_state(_config(thread_id, run_id), {"messages": messages}, as_node=MODEL_NODE)
        known = {message.id for message in messages if message.id}
        return [message for message in turn if message.id not in known] + messages


def _input(request: RunRequest) -> dict[str, Any]:
    message = human_message(request.run_id, request.text, request.uploads, request.notes)
    given: dict[str, Any] = {"messages": [message]}
    if request.uploads:
        given["uploaded_files"] = uploaded_files(request.uploads)
    return given


def _context(request: RunRequest) -> RunContext:
    return RunContext(
        request.run_id,
        request.thread_id,
        request.files,
        user_id=request.user_id,
        private=request.private,
        interactive=request.interactive,
        mode=request.mode,
        token_budget=request.token_budget,
    )


async def _in_context(context: contextvars.Context, step: Awaitable[_Result]) -> _Result:
    """Await one step of a generator in ``context``."""

    async def run() -> _Result:
        return await step

    return await asyncio.create_task(run(), context=context)


def _config(thread_id: str, run_id: str | None = None) -> RunnableConfig:
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    if run_id is not None:
        config["metadata"] = {_TURN: run_id}
    return config


def _turn_id(state: StateSnapshot) -> str | None:
    turn = (state.metadata or {}).get(_TURN)
    return turn if isinstance(turn, str) else None


def _messages(state: StateSnapshot) -> list[AnyMessage]:
    messages: list[AnyMessage] = state.values.get("messages", [])
    return messages


def _ended(turn: Sequence[AnyMessage]) -> RunEnded:
    end = ending(turn)
    error = end.error if end else None
    return RunEnded(
        status=RunStatus.DONE if error is None else RunStatus.FAILED,
        answer=(end.answer if end else "") or NOTHING_TO_SAY,
        files=presented_files(turn),
        usage=usage(turn),
        error=error,
    )
