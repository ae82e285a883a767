"""Tasks as the scheduler sees them, and as the ledger records them."""

import asyncio
import logging
from collections.abc import Sequence
from functools import partial

from sqlmodel import Session

from bot.clock import Clock
from bot.directory import ChannelDirectory
from bot.drafts import Draft
from bot.engine.wakes import Wakes
from bot.heartbeats import Heartbeats
from bot.lanes import Lane
from bot.pairing import StopRun
from bot.standing import Standings
from bot.store import task_runs, tasks
from bot.store.database import Database
from bot.store.task_runs import Fired, fire_key
from bot.store.tasks import Declared, Found
from bot.task_kinds import TaskKind, TaskRunState, TaskState
from channels.messages import InboundMessage, Sender
from scheduler.models import Standing, Task
from scheduler.plan import Fire

log = logging.getLogger(__name__)

OWNER_GONE = "its owner is no longer let in"


class LedgerTasks:
    """Implements :class:`scheduler.ports.TaskLedger` over the ledger.

    Args:
        database: The ledger.
        channels: For cutting reminders.
        heartbeats: Says which heartbeats need no run.
        standings: Says who is still let in.
        wakes: How to ask for the work of a fire.
        stop: Ends a run.
        now: The clock.
    """

    def __init__(
        self,
        *,
        database: Database,
        channels: ChannelDirectory,
        heartbeats: Heartbeats,
        standings: Standings,
        wakes: Wakes,
        stop: StopRun,
        now: Clock,
    ) -> None:
        self._database = database
        self._channels = channels
        self._heartbeats = heartbeats
        self._standings = standings
        self._wakes = wakes
        self._stop = stop
        self._now = now

    async def reconcile(self, declared: dict[str, Declared]) -> None:
        """Bring the ledger's declared tasks to what the configuration says."""
        await self._database.run(partial(tasks.reconcile, declared=declared, now=self._now()))

    async def standings(self) -> Sequence[Standing]:
        """See :class:`scheduler.ports.TaskLedger`."""
        found = await self._database.run(tasks.found)
        return [_standing(one) for one in found if one.row.state != TaskState.PROPOSED]

    async def standing(self, name: str) -> Standing | None:
        """See :class:`scheduler.ports.TaskLedger`."""
        found = await self._database.run(partial(tasks.find, name=name))
        return None if found is None or found.row.state == TaskState.PROPOSED else _standing(found)

    async def fire(self, task: Task, fire: Fire) -> bool:
        """See :class:`scheduler.ports.TaskLedger`."""
        found = await self._database.run(partial(tasks.find, name=task.name))
        if found is None:
            return False
        prompt = found.spec.prompt
        if found.spec.kind is TaskKind.HEARTBEAT and fire.skipped is None:
            pulse = await self._heartbeats.look(found.spec)
            fire, prompt = pulse.skipping(fire), pulse.prompt
        fired = await self._database.run(partial(self._record, seen=task, fire=fire, prompt=prompt))
        if fired is None:
            return False
        for stopping in fired.cancelled:
            await self._stop(stopping.thread_id, stopping.run_id)
        await self._wake(fired.lanes)
        return True

    def _record(self, session: Session, seen: Task, fire: Fire, prompt: str) -> Fired | None:
        now = self._now()
        tasks.lock(session, seen.name)
        found = tasks.find(session, seen.name)
        if found is None or not (fire.by_hand or found.row.state == TaskState.ACTIVE):
            return None
        if not fire.by_hand and _standing(found).task != seen:
            return None  # changed meanwhile: what was planned is not what is wanted
        spec = found.spec
        if not self._owner_is_heard(session, found):
            log.warning("task %r is paused: its owner is no longer let in", seen.name)
            tasks.set_state(session, seen.name, TaskState.PAUSED, OWNER_GONE)
            return None
        if fire.skipped is not None:
            made = task_runs.record(session, seen.name, spec, fire, now, TaskRunState.SKIPPED)
            return Fired() if made else None
        if spec.kind is TaskKind.REMINDER:
            return task_runs.post(session, seen.name, spec, fire, self._reminder(found, fire), now)
        return task_runs.begin(session, seen.name, spec, fire, prompt, now)

    def _owner_is_heard(self, session: Session, found: Found) -> bool:
        """Whether whoever made the task still has access: much can happen between two fires."""
        owner = found.owner
        if owner is None:
            return True
        asked = InboundMessage(found.home, found.spec.asked_in, Sender(owner.id), "", "", "")
        return self._standings.role(session, asked) is not None

    def _reminder(self, found: Found, fire: Fire) -> list[Draft]:
        key = fire_key(found.row.name, fire.scheduled_for)
        return [
            Draft(key=f"{key}:{place}:{number}", address=address, text=piece)
            for place, address in enumerate(found.spec.targets)
            for number, piece in enumerate(self._channels.split(address, found.spec.prompt))
        ]

    async def retry(self) -> int:
        """See :class:`scheduler.ports.TaskLedger`."""
        now = self._now()
        lanes = []
        for name, scheduled_for in await self._database.run(partial(task_runs.due_retries, now=now)):
            again = partial(task_runs.retry, name=name, scheduled_for=scheduled_for, now=now)
            lane = await self._database.run(again)
            if lane is not None:
                lanes.append(lane)
        await self._wake(lanes)
        return len(lanes)

    async def _wake(self, lanes: Sequence[Lane] | frozenset[Lane]) -> None:
        await asyncio.gather(*(self._wakes.now(lane) for lane in lanes))


def _standing(found: Found) -> Standing:
    row = found.row
    task = found.spec.task(row.name, row.first_seen_at, enabled=row.state == TaskState.ACTIVE)
    return Standing(task, found.served_until, found.busy)
