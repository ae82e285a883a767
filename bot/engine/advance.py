"""Running the agent on a thread's messages, in order, each closed once."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import partial

from sqlmodel import Session

from agent_core.events import (
    RunEnded,
    RunEvent,
    RunStatus,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from agent_core.fence import FencedError
from agent_core.models.catalog import ModelCatalog
from agent_core.modes import Mode
from agent_core.runtime import AgentRuntime, RunRequest
from bot.clock import Clock, new_id
from bot.directory import ChannelDirectory
from bot.drafts import Draft
from bot.engine.answer_writer import AnswerWriter
from bot.engine.answers import answer_drafts
from bot.engine.fence import Fence, FenceKeeper
from bot.engine.intake import Fetcher, Intake, dump_intake, load_intake
from bot.engine.steps import Observer, Step
from bot.engine.task_endings import posts_ending, settle, suppression
from bot.engine.wakes import Wakes
from bot.home import Home
from bot.lanes import Lane
from bot.models import usable_model
from bot.modes import usable_mode
from bot.presenter import presenting
from bot.spending import user_id
from bot.standing import Standings
from bot.store import lanes, runs
from bot.store.database import Database, StoreUnavailableError
from bot.store.runs import Closing, NotYet, Turn
from bot.store.states import RunState
from bot.store.task_turns import TaskTurn
from bot.task_words import QUIET_NOTE, too_long
from channels.messages import ChatKind

log = logging.getLogger(__name__)

RETRY_SECONDS = (1, 5, 15, 60)
"""How long to wait after the first, second, … attempt that failed."""

STOPPED_NOTE = "(Stopped on request before an answer was finished.)"
STOPPED_ANSWER = "Stopped."
SET_ASIDE_NOTE = "(Set aside: no attempt succeeded.)"


class Ending(StrEnum):
    """Why a running attempt is cut short."""

    STOP = "stop"
    DRAIN = "drain"
    TIMEOUT = "timeout"


@dataclass(slots=True)
class _Attempt:
    task: asyncio.Task[RunEnded]
    ending: Ending | None = None

    def cut(self, ending: Ending) -> None:
        if self.ending is None:
            self.ending = ending
            self.task.cancel()

    def limit(self, task: TaskTurn | None) -> None:
        """Cut a task's run short when it takes too long."""
        if task is not None:
            loop = asyncio.get_running_loop()
            timer = loop.call_later(task.timeout.total_seconds(), self.cut, Ending.TIMEOUT)
            self.task.add_done_callback(lambda _: timer.cancel())


class ThreadWorker:
    """Advances threads.

    Args:
        database: The ledger.
        runtime: The agent.
        channels: Where answers go and attachments come from.
        home: Where files lie.
        fences: Confirms what this process holds.
        wakes: How to ask for further work.
        fetcher: Gets attachments.
        models: The models there are.
        mode: The mode of threads that chose none.
        standings: Says who is heard.
        attempts: How many before a message is set aside, crashes included.
        now: The clock.
        step: Told of each step.
    """

    def __init__(
        self,
        *,
        database: Database,
        runtime: AgentRuntime,
        channels: ChannelDirectory,
        home: Home,
        fences: FenceKeeper,
        wakes: Wakes,
        fetcher: Fetcher,
        models: ModelCatalog,
        mode: Mode,
        standings: Standings,
        attempts: int,
        now: Clock,
        step: Observer,
    ) -> None:
        self._database = database
        self._runtime = runtime
        self._channels = channels
        self._home = home
        self._writer = AnswerWriter(home, channels)
        self._fences = fences
        self._wakes = wakes
        self._fetcher = fetcher
        self._models = models
        self._mode = mode
        self._standings = standings
        self._attempts = attempts
        self._now = now
        self._step = step
        self._started = now()
        self._running: dict[str, _Attempt] = {}
        self._draining = asyncio.Event()

    @property
    def running(self) -> frozenset[str]:
        """Ids of the runs this process is working on."""
        return frozenset(self._running)

    def stop(self, run_id: str) -> None:
        """End a run of this process at once, because someone asked to. Unknown ids are ignored."""
        attempt = self._running.get(run_id)
        if attempt is not None:
            attempt.cut(Ending.STOP)

    def drain(self) -> None:
        """Begin no further run."""
        self._draining.set()

    def cut(self) -> None:
        """End all running runs of this process with no attempt counted: they resume elsewhere or later."""
        for attempt in self._running.values():
            attempt.cut(Ending.DRAIN)

    async def advance(self, lane: Lane) -> None:
        """Run a thread's open rows in order until none is left. Idempotent; one caller a lane at a time."""
        if self._draining.is_set():
            return
        epoch, turn = await self._database.run(
            partial(runs.take_over, lane=lane, new_run_id=new_id(), started=self._started, now=self._now())
        )
        with self._fences.holding(lane, epoch) as fence:
            while turn is not None:
                if isinstance(turn, NotYet):
                    self._wakes.at(lane, turn.until)
                    return
                if self._draining.is_set():
                    await self._give_back(turn, fence)
                    return
                self._step(Step.CLAIMED)
                if not await self._take_turn(turn, fence):
                    return
                turn = await self._database.run(
                    partial(
                        runs.claim,
                        lane=lane,
                        epoch=epoch,
                        new_run_id=new_id(),
                        started=self._started,
                        now=self._now(),
                    )
                )

    async def _take_turn(self, turn: Turn, fence: Fence) -> bool:
        """Work on a turn; False when it stays open, and with it everything behind it."""
        if not await self._still_heard(turn):
            await self._close_unheard(turn, fence)
            return True
        if turn.stop_requested:
            await self._close_stopped(turn, fence)
            return True
        if turn.attempt > self._attempts:
            await self._set_aside(turn, fence, "the process died at each attempt")
            return True
        attempt = _Attempt(asyncio.create_task(self._attempt(turn, fence), name=f"run-{turn.run_id}"))
        self._running[turn.run_id] = attempt
        attempt.limit(turn.task)
        try:
            ended = await attempt.task
        except asyncio.CancelledError:
            if attempt.ending is Ending.STOP:
                await self._close_stopped(turn, fence)
                return True
            if attempt.ending is Ending.TIMEOUT and turn.task is not None:
                await self._close_too_long(turn, turn.task, fence)
                return True
            await self._give_back(turn, fence)
            if attempt.ending is Ending.DRAIN:
                return False
            raise
        except (FencedError, lanes.LostLaneError, StoreUnavailableError):
            # Not the message's fault. If the lane is still ours, the attempt does not count.
            await self._give_back(turn, fence)
            raise
        except Exception as error:
            log.exception("run %s failed at attempt %d", turn.run_id, turn.attempt)
            return await self._after_failure(turn, fence, error)
        finally:
            del self._running[turn.run_id]
        await self._close_ended(turn, fence, ended)
        return True

    async def _attempt(self, turn: Turn, fence: Fence) -> RunEnded:
        files = self._home.thread_files(turn.thread_id)
        if turn.forked_from is not None:
            await self._fork(turn.forked_from, turn.thread_id)
        intake = await self._take_in(turn, fence)
        request = RunRequest(
            run_id=turn.run_id,
            thread_id=turn.thread_id,
            text=turn.message.text,
            model=usable_model(self._models, turn.model),
            mode=usable_mode(turn.mode, self._mode),
            files=files,
            guard=fence.check,
            uploads=intake.uploads,
            notes=(*intake.notes, QUIET_NOTE) if turn.task and turn.task.quiet else intake.notes,
            fresh=turn.fresh,
            user_id=user_id(turn.message) if turn.by_person else None,
            private=turn.by_person and turn.message.chat_kind is ChatKind.DIRECT,
            interactive=turn.by_person,
            token_budget=turn.task.token_budget if turn.task else None,
        )
        places = turn.targets if turn.task is None or turn.task.progress else ()
        shown = [(channel, place) for place in places if (channel := self._channels.find(place))]
        ended: RunEnded | None = None
        async with presenting(shown, turn.run_id, turn.message.message_id) as on_event:
            async for event in self._runtime.run(request):
                on_event(event)
                self._observe(event)
                if isinstance(event, RunEnded):
                    ended = event
        assert ended is not None, "a run ends with RunEnded"
        return ended

    async def _fork(self, source: str, thread_id: str) -> None:
        """Have a thread begin with the files and the state of another; done before, nothing happens."""
        files = self._home.thread_files(source).copied_to
        await asyncio.to_thread(files, self._home.thread_files(thread_id))
        await self._runtime.fork(source, thread_id)

    def _observe(self, event: RunEvent) -> None:
        match event:
            case TextDelta():
                self._step(Step.MODEL)
            case ToolStarted():
                self._step(Step.TOOL)
            case ToolFinished():
                self._step(Step.TOOL_DONE)
            case RunEnded():
                self._step(Step.ENDED)

    async def _take_in(self, turn: Turn, fence: Fence) -> Intake:
        if turn.intake is not None:
            return load_intake(turn.intake)
        if not turn.message.attachments:
            return Intake()
        files = self._home.thread_files(turn.thread_id)
        await asyncio.to_thread(files.ensure)
        intake = await self._fetcher.fetch(turn, files)
        body = dump_intake(intake)
        await self._database.run(
            partial(runs.remember_intake, lane=fence.lane, epoch=fence.epoch, run_id=turn.run_id, intake=body)
        )
        return intake

    async def _close_ended(self, turn: Turn, fence: Fence, ended: RunEnded) -> None:
        answer = ended.answer
        if ended.status is RunStatus.FAILED:
            answer = f"{answer}\n\n(Reference {turn.run_id[:8]})"
            log.warning("run %s ended in failure: %s", turn.run_id, ended.error)
        state = RunState.DONE if ended.status is RunStatus.DONE else RunState.FAILED
        suppressed = suppression(turn, answer, files=bool(ended.files)) if state is RunState.DONE else None
        drafts: list[Draft] = []
        if suppressed is None and posts_ending(turn, state):
            # A long answer takes a second to cut, which is too long for the event loop.
            drafts = await asyncio.to_thread(self._writer.drafts, turn, answer, ended.files)
        await self._close(turn, fence, Closing(state, answer, drafts, ended.usage, ended.error, suppressed))

    async def _close_stopped(self, turn: Turn, fence: Fence) -> None:
        fence.check()
        await self._runtime.abandon(turn.thread_id, turn.run_id, STOPPED_NOTE, fence.check)
        await self._close_untold(turn, fence, RunState.STOPPED, STOPPED_ANSWER)

    async def _close_too_long(self, turn: Turn, task: TaskTurn, fence: Fence) -> None:
        fence.check()
        await self._runtime.abandon(turn.thread_id, turn.run_id, SET_ASIDE_NOTE, fence.check)
        reason = too_long(task.timeout)
        await self._close_untold(turn, fence, RunState.FAILED, reason, reason)

    async def _close_untold(
        self, turn: Turn, fence: Fence, state: RunState, answer: str, error: str | None = None
    ) -> None:
        """Close a turn that has no result; whoever asked for it is told so."""
        drafts = answer_drafts(turn, answer, [], self._channels.split) if posts_ending(turn, state) else []
        await self._close(turn, fence, Closing(state, answer, drafts, error=error))

    async def _still_heard(self, turn: Turn) -> bool:
        """Whether its sender still has access: much can happen while a message waits."""
        if not turn.by_person or self._standings.surely_heard(turn.message):
            return True
        role = partial(self._standings.role, message=turn.message)
        return await self._database.run(role) is not None

    async def _close_unheard(self, turn: Turn, fence: Fence) -> None:
        log.info("run %s is not begun: its sender is no longer let in", turn.run_id)
        fence.check()
        await self._runtime.abandon(turn.thread_id, turn.run_id, STOPPED_NOTE, fence.check)
        await self._close(turn, fence, Closing(RunState.STOPPED, "", [], error="no access any more"))

    async def _after_failure(self, turn: Turn, fence: Fence, error: Exception) -> bool:
        reason = f"{type(error).__name__}: {error}"
        if turn.attempt >= self._attempts:
            await self._set_aside(turn, fence, reason)
            return True
        wait = RETRY_SECONDS[min(turn.attempt, len(RETRY_SECONDS)) - 1]
        until = self._now() + timedelta(seconds=wait)
        await self._database.run(
            partial(
                runs.postpone,
                lane=fence.lane,
                epoch=fence.epoch,
                run_id=turn.run_id,
                error=reason,
                until=until,
            )
        )
        self._wakes.at(fence.lane, until)
        return False

    async def _set_aside(self, turn: Turn, fence: Fence, reason: str) -> None:
        log.error("run %s set aside after %d attempts: %s", turn.run_id, turn.attempt, reason)
        answer = (
            f"I could not get this done: I tried {self._attempts} times and something went wrong each time. "
            f"I have set it aside; please try it in other words, or tell whoever runs me "
            f"(reference {turn.run_id[:8]})."
        )
        try:
            await self._runtime.abandon(turn.thread_id, turn.run_id, SET_ASIDE_NOTE, fence.check)
        except Exception:
            log.exception("thread %s could not be repaired", turn.thread_id)
        await self._close_untold(turn, fence, RunState.SET_ASIDE, answer, reason)

    async def _give_back(self, turn: Turn, fence: Fence) -> None:
        give_back = partial(runs.give_back, lane=fence.lane, epoch=fence.epoch, run_id=turn.run_id)
        with suppress(lanes.LostLaneError, StoreUnavailableError):
            await asyncio.shield(self._database.run(give_back))

    async def _close(self, turn: Turn, fence: Fence, closing: Closing) -> None:
        fence.check()
        now = self._now()

        def close(session: Session) -> set[Lane]:
            lanes_to_wake = runs.close(session, fence.lane, fence.epoch, turn, closing, now)
            return lanes_to_wake | settle(session, turn, closing, now, self._channels.split)

        woken = await self._database.run(close)
        self._step(Step.CLOSED)
        for lane in woken:
            await self._wakes.now(lane)
        await self._prune(turn.thread_id)

    async def _prune(self, thread_id: str) -> None:
        try:
            await self._runtime.prune(thread_id)
        except Exception:
            # The turn is closed; the next one of this thread prunes again.
            log.exception("checkpoints of thread %s were not pruned", thread_id)
