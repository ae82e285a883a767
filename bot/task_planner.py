"""The agent's tools for tasks: they ask people, and people decide."""

from collections.abc import Awaitable
from functools import partial
from typing import TypeVar

from sqlmodel import Session

from agent_core.context import RunContext
from agent_core.tools.scheduling import SchedulingError, TaskStep, TaskWish
from bot.buttons import Reply, new_action_id
from bot.clock import Clock
from bot.commands.permission import denial
from bot.commands.registry import Command
from bot.config.channels import Access
from bot.directory import ChannelDirectory
from bot.drafts import Draft
from bot.engine.wakes import Wakes
from bot.lanes import Lane
from bot.messages import load_message
from bot.standing import Standings
from bot.store import actions, outbox, runs
from bot.store.database import Database
from bot.store.states import InboundKind
from bot.task_desk import Asker, DeskError, TaskDesk
from bot.task_words import coming, listed
from channels.messages import Button

T = TypeVar("T")

ASKED = (
    "I have asked the person in the chat, who must press the button (or give the command) before it counts."
)

NOT_FROM_HERE = "A scheduled run or a subagent cannot make or change tasks."


class TaskPlanner:
    """Implements :class:`agent_core.tools.scheduling.TaskPort`.

    Args:
        desk: Keeps the tasks.
        command: The command that people need the role for.
        database: The ledger.
        channels: Cuts text.
        standings: Says who may do what.
        wakes: How to ask for delivery.
        now: The clock.
    """

    def __init__(
        self,
        *,
        desk: TaskDesk,
        command: Command,
        database: Database,
        channels: ChannelDirectory,
        standings: Standings,
        wakes: Wakes,
        now: Clock,
    ) -> None:
        self._desk = desk
        self._command = command
        self._database = database
        self._channels = channels
        self._standings = standings
        self._wakes = wakes
        self._now = now

    async def propose(self, run: RunContext, call_id: str, wish: TaskWish) -> str:
        """See :class:`agent_core.tools.scheduling.TaskPort`."""
        asker = await self._asker(run)
        reply = await _told(self._desk.propose(asker, wish, f"{run.run_id}:{call_id}"))
        return await self._ask(run, call_id, asker, reply)

    async def listing(self, run: RunContext) -> str:
        """See :class:`agent_core.tools.scheduling.TaskPort`."""
        asker = await self._asker(run)
        found = await self._desk.visible(asker)
        lines = []
        for one in found:
            next_times = coming(one.spec, one.row.first_seen_at, self._now())
            when = one.spec.described(one.row.first_seen_at)
            next_time = f"; next {next_times[0]}" if next_times and one.row.state == "active" else ""
            lines.append(f"{one.row.name}: {one.spec.title}; {one.row.state}; {when}{next_time}")
        return listed(lines) or "There are no tasks here."

    async def step(
        self, run: RunContext, call_id: str, task: str, step: TaskStep, wish: TaskWish | None
    ) -> str:
        """See :class:`agent_core.tools.scheduling.TaskPort`."""
        asker = await self._asker(run)
        reply = await _told(self._desk.propose_step(asker, task.strip("` "), step, wish))
        return await self._ask(run, call_id, asker, reply)

    async def cancel(self, run: RunContext, call_id: str, task: str) -> str:
        """See :class:`agent_core.tools.scheduling.TaskPort`."""
        asker = await self._asker(run)
        reply = await _told(self._desk.propose_delete(asker, task.strip("` ")))
        return await self._ask(run, call_id, asker, reply)

    async def _asker(self, run: RunContext) -> Asker:
        """Who the run works for.

        Raises:
            SchedulingError: It is a task's own run, or they may not.
        """

        def look(session: Session) -> Asker:
            row = runs.inbound_of(session, run.run_id)
            if row is None or row.kind != InboundKind.MESSAGE:
                raise SchedulingError(NOT_FROM_HERE)
            message = load_message(row.body, row.text)
            role = self._standings.role(session, message)
            if role is None:
                raise SchedulingError("Whoever asked has no access any more.")
            denied = denial(self._command, role, self._standings.access(message) or Access())
            if denied is not None:
                raise SchedulingError(denied)
            return Asker(message, role)

        if not run.interactive:
            raise SchedulingError(NOT_FROM_HERE)
        return await self._database.run(look)

    async def _ask(self, run: RunContext, call_id: str, asker: Asker, reply: Reply) -> str:
        """Post the question with its buttons, once for one call."""
        ask = partial(self._store, key=f"ask:{run.run_id}:{call_id}", asker=asker, reply=reply)
        for lane in await self._database.run(ask):
            await self._wakes.now(lane)
        return f"{ASKED} It reads:\n\n{reply.text}"

    def _store(self, session: Session, key: str, asker: Asker, reply: Reply) -> set[Lane]:
        message, now = asker.message, self._now()
        pieces = self._channels.split(message.address, reply.text)
        if outbox.known(session, f"{key}:0"):
            return set()
        buttons = [Button(new_action_id(), choice.label) for choice in reply.choices]
        for button, choice in zip(buttons, reply.choices, strict=True):
            actions.add(session, button.id, choice.command, message.address, choice.sender_id, now)
        drafts = [
            Draft(
                key=f"{key}:{number}",
                address=message.address,
                text=piece,
                in_reply_to=message.message_id,
                buttons=tuple(buttons) if number == len(pieces) - 1 else (),
            )
            for number, piece in enumerate(pieces)
        ]
        return outbox.add(session, drafts, now)


async def _told(work: Awaitable[T]) -> T:
    """What the desk gives, or its refusal in the model's terms."""
    try:
        return await work
    except DeskError as error:
        raise SchedulingError(str(error)) from None
