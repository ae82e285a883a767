"""Answering commands at once, whatever the agent is doing."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from sqlmodel import Session

from agent_core.models.catalog import ModelCatalog
from agent_core.modes import Mode
from agent_core.skills.skill import Skill
from bot.buttons import Reply, new_action_id
from bot.clock import Clock
from bot.commands.parse import Invocation, parse_command
from bot.commands.permission import denial
from bot.commands.registry import CommandContext, Registry
from bot.config.channels import Access, Role
from bot.directory import ChannelDirectory
from bot.engine.answers import reply_drafts
from bot.engine.keyboards import close_buttons
from bot.engine.signals import Signals
from bot.engine.wakes import Wakes
from bot.lanes import Lane, thread_lane
from bot.messages import load_message
from bot.pairing import Pairing, StopRun
from bot.standing import Standings
from bot.store import actions, inbox, lanes, outbox
from bot.store.database import Database, StoreUnavailableError
from bot.store.tables import Inbound
from bot.task_desk import TaskDesk
from channels.messages import Button, InboundMessage

log = logging.getLogger(__name__)

STOP_TOPIC = "stop"
"""Signal: end the run whose id is the payload."""


class ControlWorker:
    """Carries commands out.

    Args:
        database: The ledger.
        channels: Where replies go.
        commands: The commands there are.
        skills: The skills there are.
        models: The models there are.
        mode: The mode of threads that chose none.
        standings: Says who may do what.
        pairing: Lets people in and shuts them out.
        tasks: Keeps tasks for people.
        stop: Ends a run.
        wakes: How to ask for further work.
        now: The clock.
    """

    def __init__(
        self,
        *,
        database: Database,
        channels: ChannelDirectory,
        commands: Registry,
        skills: Sequence[Skill],
        models: ModelCatalog,
        mode: Mode,
        standings: Standings,
        pairing: Pairing,
        tasks: TaskDesk,
        stop: StopRun,
        wakes: Wakes,
        now: Clock,
    ) -> None:
        self._database = database
        self._channels = channels
        self._commands = commands
        self._skills = skills
        self._models = models
        self._mode = mode
        self._standings = standings
        self._pairing = pairing
        self._tasks = tasks
        self._stop = stop
        self._wakes = wakes
        self._now = now

    async def control(self, lane: Lane) -> None:
        """Answer a chat's open commands in order. After a crash a command is carried out again."""
        epoch = await self._database.run(partial(lanes.take, lane=lane))
        while row := await self._database.run(partial(inbox.first_readable, lane=lane, now=self._now())):
            assert row.id is not None
            message = load_message(row.body, row.text)
            try:
                reply = _as_reply(await self._answer(row, message))
            except StoreUnavailableError:
                raise
            except Exception:
                log.exception("command of inbound %d failed", row.id)
                reply = Reply(
                    f"That command went wrong on my side (reference in-{row.id}). Please try again later."
                )
            close = partial(
                self._close, lane=lane, epoch=epoch, inbound_id=row.id, message=message, reply=reply
            )
            for woken in await self._database.run(close):
                await self._wakes.now(woken)
            if message.action is not None:
                await close_buttons(self._database, self._channels, message)

    def _close(
        self,
        session: Session,
        lane: Lane,
        epoch: int,
        inbound_id: int,
        message: InboundMessage,
        reply: Reply,
    ) -> set[Lane]:
        lanes.hold(session, lane, epoch)
        now = self._now()
        inbox.close(session, inbound_id, now)
        kept = self._kept(message)
        if kept != message.text:
            inbox.redact(session, inbound_id, replace(message, text=kept))
        buttons = [Button(new_action_id(), choice.label) for choice in reply.choices]
        for button, choice in zip(buttons, reply.choices, strict=True):
            actions.add(session, button.id, choice.command, message.address, choice.sender_id, now)
        drafts = reply_drafts(f"in:{inbound_id}", message, reply.text, self._channels.split, tuple(buttons))
        return outbox.add(session, drafts, now)

    def _kept(self, message: InboundMessage) -> str:
        """What the ledger keeps of a command that is done."""
        invocation = parse_command(message.text)
        command = self._commands.find(invocation.name) if invocation else None
        if invocation is None or command is None or not invocation.argument:
            return message.text
        argument = command.kept(invocation.argument)
        return message.text if argument == invocation.argument else f"/{command.name} {argument}"

    async def _answer(self, row: Inbound, message: InboundMessage) -> str | Reply:
        invocation = parse_command(message.text)
        assert invocation is not None, "only commands are stored in a control lane"
        role = await self._database.run(partial(self._standings.role, message=message))
        if role is None:
            log.info("command of inbound %s is not carried out: its sender is no longer let in", row.id)
            return ""
        command = self._commands.find(invocation.name)
        if command is None:
            return self._unknown(invocation)
        access = self._standings.access(message) or Access()
        denied = denial(command, role, access)
        if denied is not None:
            return denied
        return await command.handler(self._context(row, message, invocation, role, access))

    def _context(
        self, row: Inbound, message: InboundMessage, invocation: Invocation, role: Role, access: Access
    ) -> CommandContext:
        assert row.id is not None
        assert row.thread_id is not None
        return CommandContext(
            message=message,
            role=role,
            argument=invocation.argument,
            thread_id=row.thread_id,
            inbound_id=row.id,
            database=self._database,
            models=self._models,
            mode=self._mode,
            stop=self._stop,
            pairing=self._pairing,
            tasks=self._tasks,
            access=access,
            commands=self._commands,
            skills=self._skills,
            now=self._now(),
        )

    def _unknown(self, invocation: Invocation) -> str:
        near = self._commands.nearest(invocation.name, [skill.name for skill in self._skills])
        meant = f"Did you mean `/{near}`?" if near else "`/help` shows the commands."
        return f"I do not know `/{invocation.name}`. {meant}"


def stopping(signals: Signals, wakes: Wakes) -> StopRun:
    """Ends a run that was asked to stop, on whatever node it is."""

    async def stop(thread_id: str, run_id: str) -> None:
        await signals.publish(STOP_TOPIC, run_id)
        await wakes.now(thread_lane(thread_id))  # a run that waits for its next try ends now as well

    return stop


def _as_reply(answer: str | Reply) -> Reply:
    return Reply(answer) if isinstance(answer, str) else answer
