"""What people may do with tasks, and doing it: for the commands and for the agent's tools alike."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from sqlmodel import Session

from agent_core.tools.scheduling import TaskStep, TaskWish
from bot.access import LOCAL_CHANNELS
from bot.buttons import Choice, Reply
from bot.clock import Clock
from bot.config.channels import Role
from bot.heartbeats import Heartbeats
from bot.lanes import chat_key
from bot.store import actions, task_runs, tasks, zones
from bot.store.database import Database
from bot.store.task_runs import Logged
from bot.store.tasks import Found, Owner
from bot.task_kinds import TaskOrigin, TaskState
from bot.task_spec import TaskSpec, load_spec
from bot.task_wishes import name_for, place_of, wished
from bot.task_words import restated
from channels.messages import InboundMessage
from scheduler.errors import ScheduleError

LOGGED_RUNS = 5

_VERBS = {
    TaskStep.PAUSE: ("pause", "Pause it"),
    TaskStep.RESUME: ("resume", "Resume it"),
    TaskStep.RUN_NOW: ("run", "Run it now"),
}


class DeskError(Exception):
    """It cannot be done; words for whoever asked."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Somebody who asks for something about tasks.

    Args:
        message: What they wrote.
        role: What they may do.
    """

    message: InboundMessage
    role: Role

    @property
    def owner(self) -> Owner:
        """Whose the tasks are that they make."""
        address = self.message.address
        return Owner(address.channel, address.account, self.message.sender.id)

    @property
    def runs_hart(self) -> bool:
        """Whether they are at the machine itself."""
        return self.message.address.channel in LOCAL_CHANNELS


@dataclass(frozen=True, slots=True)
class Limits:
    """What people may put on a schedule.

    Args:
        floor: The least time between two runs of a task.
        per_person: How many tasks somebody may have.
        zone: IANA zone of who has chosen none.
    """

    floor: timedelta
    per_person: int
    zone: str


class TaskDesk:
    """Keeps tasks for people.

    Args:
        database: The ledger.
        limits: What people may put on a schedule.
        run_now: Fires a task by hand.
        heartbeats: The lists of conversations.
        now: The clock.
    """

    def __init__(
        self,
        database: Database,
        limits: Limits,
        run_now: Callable[[str], Awaitable[object]],
        heartbeats: Heartbeats,
        now: Clock,
    ) -> None:
        self._database = database
        self._limits = limits
        self._run_now = run_now
        self.heartbeats = heartbeats
        self._now = now

    @property
    def floor(self) -> timedelta:
        """The least time between two runs of a task."""
        return self._limits.floor

    async def zone(self, message: InboundMessage) -> str:
        """The zone of whoever wrote a message: theirs, or that of the chat, or the configured one."""

        def look(session: Session) -> str | None:
            own = zones.get(session, zones.person(message.address, message.sender.id))
            return own or zones.get(session, zones.chat(message.address))

        return await self._database.run(look) or self._limits.zone

    async def visible(self, asker: Asker) -> list[Found]:
        """The tasks somebody may see: their own, those that post to this chat, and for admins those of the
        account."""
        found = await self._database.run(tasks.found)
        return [one for one in found if one.row.state != TaskState.PROPOSED and _may_see(asker, one)]

    async def find(self, asker: Asker, name: str) -> Found:
        """One task that somebody may see.

        Raises:
            DeskError: There is none for them.
        """
        found = await self._database.run(partial(tasks.find, name=name))
        if found is None or not _may_see(asker, found):
            raise DeskError(f"There is no task `{name[:80]}` here. `/tasks` shows those there are.")
        return found

    async def log(self, name: str) -> list[Logged]:
        """The latest occurrences of a task."""
        return await self._database.run(partial(task_runs.latest, name=name, count=LOGGED_RUNS))

    async def propose(self, asker: Asker, wish: TaskWish, key: str) -> Reply:
        """Keep a task that waits to be confirmed; gives what to ask.

        Args:
            asker: Who wishes it.
            wish: What they wish.
            key: The same for the same request, so that asking twice makes one task.

        Raises:
            DeskError: It cannot be.
        """
        empty = TaskSpec("", "", await self.zone(asker.message), (place_of(asker.message),))
        return await self.keep(asker, wish, empty, key)

    async def keep(self, asker: Asker, wish: TaskWish, empty: TaskSpec, key: str) -> Reply:
        """The same, on a specification of the caller's."""
        now = self._now()
        spec = self._wished(wish, replace(empty, asked_in=asker.message.chat_kind), new=True)
        name = name_for(spec.title, key)

        def keep(session: Session) -> None:
            if tasks.find(session, name) is not None:
                return
            self._check_count(session, asker)
            home = place_of(asker.message)
            if not tasks.propose(session, name, spec, asker.owner, home, now):
                raise DeskError("There was a task of that name. Please ask again.")

        await self._database.run(keep)
        text = f"Shall I put **{spec.title}** on the schedule?\n\n{restated(spec, now, now)}\n\n"
        return self._asking(
            asker, text, f"/tasks confirm {name}", "Yes, schedule it", f"/tasks delete {name}"
        )

    async def add(self, asker: Asker, name: str, spec: TaskSpec) -> None:
        """Have a task that somebody gave a command for; doing it twice is the same as once.

        Raises:
            DeskError: They have too many.
        """
        now = self._now()
        spec = replace(spec, asked_in=asker.message.chat_kind)

        def add(session: Session) -> None:
            if tasks.find(session, name) is None:
                self._check_count(session, asker)
                tasks.propose(session, name, spec, asker.owner, place_of(asker.message), now)
                tasks.activate(session, name, spec, now)

        await self._database.run(add)

    async def propose_step(self, asker: Asker, name: str, step: TaskStep, wish: TaskWish | None) -> Reply:
        """What to ask before something is done with a task.

        Raises:
            DeskError: They may not, or it cannot be.
        """
        found = await self._own(asker, name)
        if step is not TaskStep.CHANGE:
            verb, label = _VERBS[step]
            text = (
                f"{label.removesuffix(' it').removesuffix(' it now')} **{found.spec.title}** (`{name}`)?\n\n"
            )
            return self._asking(asker, text, f"/tasks {verb} {name}", label)
        _must_be_from_chat(found)
        spec = self._wished(wish or TaskWish(), found.spec)
        now = self._now()
        await self._database.run(partial(tasks.propose_change, name=name, spec=spec, now=now))
        text = f"Shall I change **{found.spec.title}** (`{name}`) to this?\n\n{restated(spec, now, now)}\n\n"
        return self._asking(asker, text, f"/tasks confirm {name}", "Yes, change it")

    async def propose_delete(self, asker: Asker, name: str) -> Reply:
        """What to ask before a task is deleted.

        Raises:
            DeskError: They may not.
        """
        found = await self._own(asker, name)
        _must_be_from_chat(found)
        text = f"Delete **{found.spec.title}** (`{name}`)?\n\n"
        return self._asking(asker, text, f"/tasks delete {name}", "Delete it")

    async def confirm(self, asker: Asker, name: str) -> Found:
        """Have a proposed task, or a proposed change, count; doing it twice is the same as once.

        Raises:
            DeskError: They may not, or nothing waits for it.
        """
        found = await self._own(asker, name)
        proposed, now = found.row.proposal, self._now()
        if found.row.state != TaskState.PROPOSED and proposed is None:
            return found
        if found.row.proposed_at is None or now - found.row.proposed_at > actions.GOOD_FOR:
            raise DeskError("That was asked too long ago. Please ask for it again.")
        spec = found.spec if proposed is None else load_spec(proposed)
        if spec.at is not None and spec.at <= now:
            raise DeskError("The time of that task has passed. Please ask for it again.")
        await self._database.run(partial(self._confirm, found=found, spec=spec))
        return await self._own(asker, name)

    def _confirm(self, session: Session, found: Found, spec: TaskSpec) -> None:
        row = tasks.lock(session, found.row.name)
        if row is None or (row.state, row.proposal) != (found.row.state, found.row.proposal):
            return
        if row.state == TaskState.PROPOSED or spec.timing != found.spec.timing:
            tasks.activate(session, row.name, spec, self._now())
        else:
            tasks.update_spec(session, row.name, spec)

    async def change(self, asker: Asker, name: str, wish: TaskWish) -> Found:
        """Change a task at once, as somebody gave a command for it.

        Raises:
            DeskError: They may not, or it cannot be.
        """
        found = await self._own(asker, name)
        _must_be_from_chat(found)
        spec = self._wished(wish, found.spec)
        await self._database.run(partial(tasks.propose_change, name=name, spec=spec, now=self._now()))
        return await self.confirm(asker, name)

    async def pause(self, asker: Asker, name: str) -> Found:
        """Have a task fire no more for a while.

        Raises:
            DeskError: They may not.
        """
        found = await self._own(asker, name)
        if found.row.state == TaskState.ACTIVE:
            await self._database.run(partial(tasks.set_state, name=name, state=TaskState.PAUSED))
        return found

    async def resume(self, asker: Asker, name: str) -> Found:
        """Have a task fire again.

        Raises:
            DeskError: They may not, or its time has passed.
        """
        found = await self._own(asker, name)
        at = found.spec.at
        if at is not None and at <= self._now():
            raise DeskError("The time of that task has passed.")
        if found.row.state in (TaskState.PAUSED, TaskState.DISABLED):
            await self._database.run(partial(tasks.resume, name=name, now=self._now()))
        return await self._own(asker, name)

    async def run(self, asker: Asker, name: str) -> Found:
        """Run a task now; its schedule stays as it is.

        Raises:
            DeskError: They may not.
        """
        found = await self._own(asker, name)
        if found.row.state == TaskState.PROPOSED:
            raise DeskError("That task waits to be confirmed first.")
        await self._run_now(name)
        return found

    async def delete(self, asker: Asker, name: str) -> Found:
        """Delete a task; what it did is kept.

        Raises:
            DeskError: They may not, or it is declared in the configuration.
        """
        found = await self._own(asker, name)
        _must_be_from_chat(found)
        await self._database.run(partial(tasks.set_state, name=name, state=TaskState.GONE))
        return found

    async def _own(self, asker: Asker, name: str) -> Found:
        found = await self.find(asker, name)
        if not _may_change(asker, found):
            raise DeskError(f"`{name}` is somebody else's task. Its owner or an admin can change it.")
        return found

    def _check_count(self, session: Session, asker: Asker) -> None:
        most = self._limits.per_person
        if tasks.count_owned(session, asker.owner, self._now() - actions.GOOD_FOR) >= most:
            raise DeskError(f"You have as many tasks as somebody may have ({most}). Delete one first.")

    def _wished(self, wish: TaskWish, before: TaskSpec, *, new: bool = False) -> TaskSpec:
        try:
            return wished(wish, before, self._now(), self._limits.floor, new=new)
        except ScheduleError as error:
            raise DeskError(str(error)) from None

    def _asking(self, asker: Asker, text: str, command: str, label: str, no: str | None = None) -> Reply:
        sender = asker.message.sender.id
        choices = [Choice(label, command, sender)]
        if no is not None:
            choices.append(Choice("No", no, sender))
        return Reply(f"{text}It counts once you press the button, or write `{command}`.", tuple(choices))


def _may_see(asker: Asker, found: Found) -> bool:
    chat = chat_key(asker.message.address)
    return _may_change(asker, found) or any(chat_key(target) == chat for target in found.spec.targets)


def _may_change(asker: Asker, found: Found) -> bool:
    if asker.runs_hart or found.owner == asker.owner:
        return True
    if not asker.role.covers(Role.ADMIN):
        return False
    address = asker.message.address
    places = {(target.channel, target.account) for target in found.spec.targets}
    return (address.channel, address.account) in places


def _must_be_from_chat(found: Found) -> None:
    if found.row.origin == TaskOrigin.CONFIG:
        raise DeskError(f"`{found.row.name}` is declared in config.yaml, and is changed there.")
