"""Letting strangers in, and shutting people out again."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlmodel import Session

from bot import codes
from bot.access import LOCAL_CHANNELS, role_of
from bot.clock import Clock
from bot.config.channels import Access, Role
from bot.drafts import Draft
from bot.engine.wakes import Wakes
from bot.lanes import Lane
from bot.store import grants, outbox, pairing
from bot.store.database import Database
from bot.store.grants import Account
from bot.store.tables import Grant, PairingRequest
from channels.messages import Address

log = logging.getLogger(__name__)

WELCOME = "You are in. Write to me as you would to a colleague; `/help` shows the commands."

StopRun = Callable[[str, str], Awaitable[None]]
"""Ends a run: its thread's id, and its own."""


@dataclass(frozen=True, slots=True)
class Approver:
    """Who lets people in.

    Args:
        name: Who they are, for the record and for counting wrong codes.
        role: What they may do.
        account: The account whose people they may let in; None for all.
    """

    name: str
    role: Role
    account: Account | None = None


OPERATOR = Approver("operator", Role.OWNER)
"""Whoever sits at this machine."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it went, in words for whoever asked (markdown)."""

    done: bool
    words: str


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody on one account.

    Args:
        account: Where.
        id: The platform's own id of them.
        name: As the platform shows it. Chosen by themselves: never trust it.
        since: When they asked, or were let in.
        role: What they were given; None while they wait.
        by: Who let them in.
    """

    account: Account
    id: str
    name: str
    since: datetime
    role: Role | None = None
    by: str = ""

    def __str__(self) -> str:
        return f"`{self.id}`{f' ({quoted(self.name)})' if self.name else ''} on {place(self.account)}"


@dataclass(frozen=True, slots=True)
class Overview:
    """Who waits, and who was let in; each in the order of time."""

    waiting: tuple[Person, ...]
    let_in: tuple[Person, ...]


def invitation(user_id: str) -> str:
    """What a stranger is told; the code is put in as it is sent, and is nowhere else."""
    return (
        f"I do not know you yet. To get in, ask whoever runs me to run `hart pairing approve {codes.PLACE}`, "
        f"or an admin to write `/pair approve {codes.PLACE}` to me. The code is good for one hour, "
        f"unless three others ask after you. Your id is `{user_id}`."
    )


def displacement(user_id: str) -> str:
    """What a stranger is told who gave way to others before their code could be sent."""
    return (
        "I do not know you yet, and others have asked to be let in after you. Write to me again in an hour, "
        f"or ask whoever runs me to let you in; your id is `{user_id}`."
    )


def quoted(name: str) -> str:
    """A name that somebody chose for themselves, as a piece of code: nothing in it is a link or mention."""
    shown = "".join(char if char.isprintable() and char != "`" else " " for char in name)
    return f"`{' '.join(shown.split())[:64] or '?'}`"


def place(account: Account) -> str:
    """An account in words."""
    return account[0] if account[1] == "main" else f"{account[0]}/{account[1]}"


class Pairing:
    """Lets people in and shuts them out.

    Args:
        database: The ledger.
        rules: The access rules of each account.
        wakes: How to have newcomers told.
        stop: Ends runs.
        now: The clock.
    """

    def __init__(
        self,
        *,
        database: Database,
        rules: Mapping[Account, Access],
        wakes: Wakes,
        stop: StopRun,
        now: Clock,
    ) -> None:
        self._database = database
        self._rules = {
            account: access for account, access in rules.items() if account[0] not in LOCAL_CHANNELS
        }
        self._wakes = wakes
        self._stop = stop
        self._now = now

    async def overview(self, approver: Approver) -> Overview:
        """Who waits and who was let in, where the approver may know."""
        accounts = self._accounts(approver)

        def look(session: Session) -> Overview:
            waiting = pairing.pending(session, accounts, self._now())
            let_in = grants.of_accounts(session, accounts)
            return Overview(tuple(map(_waiting, waiting)), tuple(map(_let_in, let_in)))

        return await self._database.run(look)

    async def approve(self, approver: Approver, typed: str, role: Role, approval: str) -> Outcome:
        """Let the stranger in who was given this code, and tell them.

        Args:
            approver: Who says so.
            typed: The code as it was typed.
            role: What the newcomer may do.
            approval: Unique for this approval: a second call with it changes nothing.
        """
        if not approver.role.covers(Role.ADMIN) or not approver.role.covers(role):
            return Outcome(False, "You may not let others in.")
        work = partial(self._approve, approver=approver, typed=typed, role=role, approval=approval)
        outcome, lanes = await self._database.run(work)
        for lane in lanes:
            await self._wakes.now(lane)
        return outcome

    def _approve(
        self, session: Session, approver: Approver, typed: str, role: Role, approval: str
    ) -> tuple[Outcome, set[Lane]]:
        now = self._now()
        before = grants.by_approval(session, approval)
        if before is not None:
            return Outcome(True, _welcomed(_let_in(before))), set()
        locked = pairing.locked_until(session, approver.name, now)
        if locked is not None:
            minutes = max(1, round((locked - now).total_seconds() / 60))
            return Outcome(False, f"Too many wrong codes. I take the next one in {minutes} min."), set()
        request = self._find(session, self._accounts(approver), typed, now)
        if request is None or not pairing.take(session, request.id):
            return self._wrong_code(session, approver, now), set()
        pairing.succeeded(session, approver.name)
        account = (request.channel, request.account)
        grants.give(
            session,
            account,
            request.user_id,
            request.name,
            role,
            granted_by=approver.name,
            approval=approval,
            now=now,
        )
        log.info("%s let %s on %s in as %s", approver.name, request.user_id, place(account), role)
        address = Address(*account, request.chat_id, request.platform_thread)
        welcome = Draft(key=f"pair:{request.id}:welcome", address=address, text=WELCOME, final=True)
        newcomer = Person(account, request.user_id, request.name, now, role, approver.name)
        words = _welcomed(newcomer) + self._hint(session, account)
        return Outcome(True, words), outbox.add(session, [welcome], now)

    def _find(
        self, session: Session, accounts: list[Account], typed: str, now: datetime
    ) -> PairingRequest | None:
        """The request with a code. All are compared, so that time does not tell which one came near."""
        code = codes.read(typed)
        found = None
        for row in pairing.pending(session, accounts, now):
            if code is None or row.salt is None or row.code_hash is None:
                continue
            if codes.matches(code, codes.KeptCode(row.salt, row.code_hash)):
                found = row
        return found

    def _wrong_code(self, session: Session, approver: Approver, now: datetime) -> Outcome:
        left = pairing.failed(session, approver.name, now)
        log.warning("%s tried a pairing code that is not good; %d tries left", approver.name, left)
        if left == 0:
            return Outcome(False, "That code is not good. I take no more codes from you for an hour.")
        tries = "1 try" if left == 1 else f"{left} tries"
        return Outcome(False, f"That code is not good: it may be mistyped, used, or too old ({tries} left).")

    def _hint(self, session: Session, account: Account) -> str:
        """What to say while nobody can let others in from the chat."""
        access = self._rules[account]
        given = {grant.role for grant in grants.of_accounts(session, [account])}
        if access.owners or Role.OWNER in given:
            return ""
        return (
            f" {place(account)} has no owner yet: add one under `access.owners` in `channels.yaml`, "
            "or approve a code with `--role owner`."
        )

    async def reject(self, approver: Approver, user_id: str) -> Outcome:
        """Have somebody wait no more, without letting them in. They are not told, and may ask again."""
        if not approver.role.covers(Role.ADMIN):
            return Outcome(False, "You may not turn others away.")
        return await self._database.run(partial(self._reject, approver=approver, user_id=user_id))

    def _reject(self, session: Session, approver: Approver, user_id: str) -> Outcome:
        waiting = pairing.pending(session, self._accounts(approver), self._now())
        rejected = [
            _waiting(one) for one in waiting if one.user_id == user_id and pairing.take(session, one.id)
        ]
        if not rejected:
            return Outcome(False, "Nobody with that id waits.")
        for one in rejected:
            log.info("%s rejected %s on %s", approver.name, user_id, place(one.account))
        verb = "waits" if len(rejected) == 1 else "wait"
        people = ", ".join(map(str, rejected))
        return Outcome(True, f"{people} {verb} no more. They are not told, and may ask again.")

    async def revoke(self, approver: Approver, user_id: str) -> Outcome:
        """Shut somebody out at once: what they wrote and was not answered yet is not worked on either."""
        if not approver.role.covers(Role.ADMIN):
            return Outcome(False, "You may not shut others out.")
        work = partial(self._revoke, approver=approver, user_id=user_id)
        outcome, stopped = await self._database.run(work)
        for run_id, thread_id in stopped:
            await self._stop(thread_id, run_id)
        return outcome

    def _revoke(
        self, session: Session, approver: Approver, user_id: str
    ) -> tuple[Outcome, list[tuple[str, str]]]:
        accounts = self._accounts(approver)
        found = grants.of_user(session, accounts, user_id)
        own = approver.account is not None and approver.name == approver_name(approver.account, user_id)
        if not own and any(not _may_revoke(approver.role, Role(grant.role)) for grant in found):
            return Outcome(False, "Only an owner can shut out an admin or owner."), []
        stopped: list[tuple[str, str]] = []
        for grant in found:
            account = (grant.channel, grant.account)
            grants.revoke(session, account, user_id)
            stopped += grants.stop_runs_of(session, account, user_id, self._now())
            log.info("%s shut %s on %s out", approver.name, user_id, place(account))
        lists = [place(one) for one in accounts if role_of(user_id, self._rules[one], None) is not None]
        listed = f" They stay listed in `channels.yaml` for {', '.join(lists)}." if lists else ""
        if not found:
            return Outcome(False, f"Nobody with that id was let in by a code.{listed}"), []
        gone = ", ".join(str(_let_in(grant)) for grant in found)
        return Outcome(True, f"{gone}: no longer let in.{listed}"), stopped

    def _accounts(self, approver: Approver) -> list[Account]:
        if approver.account is None:
            return list(self._rules)
        return [approver.account] if approver.account in self._rules else []


def approver_name(account: Account, user_id: str) -> str:
    """How the record names somebody who lets others in from a chat."""
    return f"{account[0]}/{account[1]}/{user_id}"


def _may_revoke(role: Role, given: Role) -> bool:
    return role is Role.OWNER or given is Role.MEMBER


def _welcomed(person: Person) -> str:
    return f"{person} is in, as {person.role}."


def _waiting(row: PairingRequest) -> Person:
    return Person((row.channel, row.account), row.user_id, row.name, row.created_at)


def _let_in(row: Grant) -> Person:
    account = (row.channel, row.account)
    return Person(account, row.user_id, row.name, row.granted_at, Role(row.role), row.granted_by)
