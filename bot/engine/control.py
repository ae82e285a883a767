"""Answering commands at once, whatever the agent is doing."""

import logging
from functools import partial

from sqlmodel import Session

from agent_core.models.catalog import ModelCatalog
from bot.clock import Clock
from bot.commands.parse import Invocation, parse_command
from bot.commands.registry import CommandContext, Registry
from bot.directory import ChannelDirectory
from bot.drafts import Draft
from bot.engine.answers import reply_drafts
from bot.engine.signals import Signals
from bot.engine.wakes import Wakes
from bot.lanes import Lane, thread_lane
from bot.messages import load_message
from bot.store import inbox, lanes, outbox
from bot.store.database import Database, StoreUnavailableError
from bot.store.tables import Inbound
from channels.messages import InboundMessage

log = logging.getLogger(__name__)

STOP_TOPIC = "stop"
"""Signal: end the run whose id is the payload."""


class ControlWorker:
    """Carries commands out.

    Args:
        database: The ledger.
        channels: Where replies go.
        commands: The commands there are.
        models: The models there are.
        signals: Reaches runs on other nodes.
        wakes: How to ask for further work.
        now: The clock.
    """

    def __init__(
        self,
        *,
        database: Database,
        channels: ChannelDirectory,
        commands: Registry,
        models: ModelCatalog,
        signals: Signals,
        wakes: Wakes,
        now: Clock,
    ) -> None:
        self._database = database
        self._channels = channels
        self._commands = commands
        self._models = models
        self._signals = signals
        self._wakes = wakes
        self._now = now

    async def control(self, lane: Lane) -> None:
        """Answer a chat's open commands in order. After a crash a command is carried out again."""
        epoch = await self._database.run(partial(lanes.take, lane=lane))
        while row := await self._database.run(partial(inbox.first_open, lane=lane)):
            assert row.id is not None
            message = load_message(row.body)
            try:
                reply = await self._answer(row, message)
            except StoreUnavailableError:
                raise
            except Exception:
                log.exception("command of inbound %d failed", row.id)
                reply = f"That command went wrong on my side (reference in-{row.id}). Please try again later."
            drafts = reply_drafts(
                f"in:{row.id}", message.address, reply, self._channels.split, message.message_id
            )
            close = partial(self._close, lane=lane, epoch=epoch, inbound_id=row.id, drafts=drafts)
            for woken in await self._database.run(close):
                await self._wakes.now(woken)

    def _close(
        self, session: Session, lane: Lane, epoch: int, inbound_id: int, drafts: list[Draft]
    ) -> set[Lane]:
        lanes.hold(session, lane, epoch)
        inbox.close(session, inbound_id, self._now())
        return outbox.add(session, drafts, self._now())

    async def _answer(self, row: Inbound, message: InboundMessage) -> str:
        invocation = parse_command(message.text)
        assert invocation is not None, "only commands are stored in a control lane"
        command = self._commands.find(invocation.name)
        if command is None:
            return self._unknown(invocation)
        assert row.id is not None
        assert row.thread_id is not None
        return await command.handler(
            CommandContext(
                message=message,
                argument=invocation.argument,
                thread_id=row.thread_id,
                inbound_id=row.id,
                database=self._database,
                models=self._models,
                stop=partial(self._stop, row.thread_id),
                commands=self._commands,
                now=self._now(),
            )
        )

    def _unknown(self, invocation: Invocation) -> str:
        near = self._commands.nearest(invocation.name)
        meant = f"Did you mean `/{near.name}`?" if near else "`/help` shows the commands."
        return f"I do not know `/{invocation.name}`. {meant}"

    async def _stop(self, thread_id: str, run_id: str) -> None:
        await self._signals.publish(STOP_TOPIC, run_id)
        await self._wakes.now(thread_lane(thread_id))  # a run that waits for its next try ends now as well
