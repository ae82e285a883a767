"""The MessageProxy: from what a platform delivers to rows in the ledger and lanes to serve."""

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlmodel import Session

from agent_core.skills.asked import asked_skill
from bot.access import (
    LOCAL_CHANNELS,
    Heard,
    Refused,
    Standing,
    Unheard,
    Unpaired,
    decide,
    dismissed,
    may_follow,
)
from bot.buttons import misuse
from bot.clock import Clock, new_id
from bot.commands.parse import parse_command
from bot.commands.permission import denial
from bot.commands.registry import Registry
from bot.config.channels import Access, Role, Sessions
from bot.directory import ChannelDirectory
from bot.drafts import Draft
from bot.engine.answers import reply_drafts
from bot.engine.steps import Observer, Step
from bot.engine.wakes import Wakes
from bot.lanes import Lane, chat_key, chat_lane, control_lane, thread_lane
from bot.loop_guard import LoopGuard, Verdict
from bot.messages import storable
from bot.pairing import displacement, invitation
from bot.standing import Standings
from bot.store import actions, inbox, outbox, pairing, parts, threads
from bot.store.database import Database, StoreUnavailableError
from bot.store.lanes import lock
from bot.store.states import InboundKind
from bot.store.tables import Thread
from bot.threads import thread_key
from channels.errors import InboxUnavailableError
from channels.messages import Address, Attachment, InboundMessage, Sender

log = logging.getLogger(__name__)

MAX_CHARACTERS = 100_000
"""Longer messages are refused with a word: no person types them, and no model's window is for them."""

MAX_RAW_CHARACTERS = 16_000
"""How much of something not understood is kept."""

REFUSAL_EVERY = timedelta(hours=1)
"""How often one sender is told that they have no access."""

LOOP_WORDS = (
    "I have got the same from you too many times in a minute and take you for a program, so I stop listening "
    "to you here for a minute."
)


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one account."""

    sessions: Sessions
    access: Access


class MessageProxy:
    """Stores what channels hear, before they acknowledge it, and has it worked on.

    Implements :class:`channels.channel.Inbox`.

    Args:
        database: The ledger.
        policies: The rules of each account, by (channel, account).
        standings: Looks people up.
        commands: The commands there are.
        skills: Names of the skills, which are asked for like commands but are for the agent.
        channels: For cutting the few replies made here.
        wakes: How to ask for work.
        now: The clock.
        step: Told of each step.
    """

    def __init__(
        self,
        *,
        database: Database,
        policies: Mapping[tuple[str, str], Policy],
        standings: Standings,
        commands: Registry,
        skills: Collection[str],
        channels: ChannelDirectory,
        wakes: Wakes,
        now: Clock,
        step: Observer,
    ) -> None:
        self._database = database
        self._policies = policies
        self._standings = standings
        self._loops = LoopGuard()
        self._commands = commands
        self._skills = skills
        self._channels = channels
        self._wakes = wakes
        self._now = now
        self._step = step

    async def accept(self, message: InboundMessage) -> None:
        """See :class:`channels.channel.Inbox`."""
        message = _clean(message)
        policy = self._policies[message.address.channel, message.address.account]
        unheard = dismissed(message, policy.access)
        if unheard is not None and not may_follow(message, policy.access):
            log.debug("not heard on %s: %s", message.address.channel, unheard.reason)
            return
        if message.action is None and not message.text.strip() and not message.attachments:
            log.debug("nothing in the message from %s", message.address.channel)
            return
        verdict = self._judge(message) if unheard is None else Verdict.PASS
        if verdict is Verdict.HELD:
            return

        def store(session: Session) -> set[Lane]:
            if inbox.known(session, message.dedupe_key):
                return set()
            standing = self._standings.look(session, message, policy.access)
            match decide(message, policy.access, standing):
                case Unheard() if may_follow(message, policy.access):
                    return self._store_part(session, message, policy, standing)
                case Unheard(reason=reason):
                    log.debug("not heard on %s: %s", message.address.channel, reason)
                    return set()
                case Refused(reply=reply):
                    return self._store_refused(session, message, reply)
                case Unpaired():
                    return self._store_unpaired(session, message)
                case Heard() if verdict is Verdict.TRIPPED:
                    return self._deny(session, message, LOOP_WORDS, "loop")
                case Heard(role=role):
                    if message.action is not None:
                        return self._store_pressed(session, message, policy, role)
                    return self._store_heard(session, message, policy, role)

        await self._commit(store)

    async def reject(self, address: Address, dedupe_key: str, raw: str, reason: str) -> None:
        """See :class:`channels.channel.Inbox`."""
        body = storable(raw[:MAX_RAW_CHARACTERS])

        def store(session: Session) -> set[Lane]:
            added = inbox.add_closed(
                session,
                address,
                storable(dedupe_key),
                InboundKind.REJECTED,
                self._now(),
                note=storable(reason),
                body=body,
            )
            if added:
                log.warning("skipped something from %s/%s: %s", address.channel, address.account, reason)
            return set()

        await self._commit(store)

    async def _commit(self, store: Callable[[Session], set[Lane]]) -> None:
        try:
            lanes = await self._database.run(store)
        except StoreUnavailableError as error:
            log.error("a message could not be stored: %s", error)
            raise InboxUnavailableError(str(error)) from error
        if lanes:
            self._step(Step.STORED)
        for lane in lanes:
            await self._wakes.now(lane)

    def _judge(self, message: InboundMessage) -> Verdict:
        if message.address.channel in LOCAL_CHANNELS:
            return Verdict.PASS  # a script may ask the same again and again
        verdict = self._loops.judge(chat_key(message.address), message, self._now())
        if verdict is Verdict.TRIPPED:
            log.warning(
                "%s/%s: sender %s repeats themselves in chat %s and is not heard there for a minute",
                message.address.channel,
                message.address.account,
                message.sender.id,
                message.address.chat_id,
            )
        return verdict

    def _store_refused(self, session: Session, message: InboundMessage, reply: str) -> set[Lane]:
        """Tell a stranger how to get in, once an hour; keep nothing of what they wrote."""
        if not self._note_refusal(session, message):
            return set()
        return self._reply(session, message, reply)

    def _store_unpaired(self, session: Session, message: InboundMessage) -> set[Lane]:
        """Give a stranger a code, once an hour; keep nothing of what they wrote.

        Others may have to give way. That nobody asks twice an hour keeps their codes good for a while.
        """
        address = message.address
        pairing.line_up(session, (address.channel, address.account))
        if not self._note_refusal(session, message):
            return set()
        request_id = new_id()
        for displaced in pairing.request(session, message, request_id, self._now()):
            pairing.retell(session, displaced.id, displacement(displaced.user_id))
        draft = Draft(
            key=f"no:{message.dedupe_key}",
            address=address,
            text=invitation(message.sender.id),
            in_reply_to=message.message_id,
            final=True,
            pairing_id=request_id,
            reply_via=message.reply_via,
        )
        return outbox.add(session, [draft], self._now())

    def _note_refusal(self, session: Session, message: InboundMessage) -> bool:
        """Record that somebody has no access; False when they were told within the hour."""
        since = self._now() - REFUSAL_EVERY
        if inbox.refused_since(session, message.address, message.sender.id, since):
            return False
        self._close(session, message, InboundKind.REFUSED, "no access")
        return True

    def _store_pressed(
        self, session: Session, message: InboundMessage, policy: Policy, role: Role
    ) -> set[Lane]:
        """A button that may be pressed becomes its command, given by whoever pressed it."""
        assert message.action is not None
        now = self._now()
        action = actions.find(session, message.action)
        problem = misuse(action, message, now)
        if action is None or problem is not None:
            return self._deny(session, message, problem or "", "button")
        actions.use(session, action.id, message.sender.id, now)
        return self._store_heard(session, replace(message, text=action.command), policy, role)

    def _deny(self, session: Session, message: InboundMessage, words: str, note: str) -> set[Lane]:
        """Record that somebody may not do this, and tell them; nothing else happens."""
        self._close(session, message, InboundKind.DENIED, note)
        return self._reply(session, message, words)

    def _close(
        self, session: Session, message: InboundMessage, kind: InboundKind, note: str, body: str = ""
    ) -> None:
        inbox.add_closed(
            session,
            message.address,
            message.dedupe_key,
            kind,
            self._now(),
            note=note,
            body=body,
            sender_id=message.sender.id,
        )

    def _store_part(
        self, session: Session, message: InboundMessage, policy: Policy, standing: Standing
    ) -> set[Lane]:
        """What does not address us is heard with the part that does, and held until that comes."""
        decision = decide(replace(message, addressed=True), policy.access, standing)
        if message.part_of is None or not isinstance(decision, Heard):
            return set()
        lock(session, chat_lane(message.address))
        if parts.is_heard(session, message.part_of):
            return self._store_heard(session, message, policy, decision.role)
        inbox.hold(session, message, self._now())
        return set()

    def _store_heard(
        self, session: Session, message: InboundMessage, policy: Policy, role: Role
    ) -> set[Lane]:
        now = self._now()
        # What is said in one chat is stored one after the other, so that ids become visible in their order.
        lock(session, chat_lane(message.address))
        if len(message.text) > MAX_CHARACTERS:
            note = f"{len(message.text)} characters long"
            self._close(session, message, InboundKind.REJECTED, note, message.text[:MAX_RAW_CHARACTERS])
            reply = (
                f"That message is too long for me ({len(message.text):,} characters; I take up to "
                f"{MAX_CHARACTERS:,}). Send it as a file, or in parts."
            )
            return self._reply(session, message, reply)
        invocation = parse_command(message.text)
        command = self._commands.find(invocation.name) if invocation else None
        if command is None and asked_skill(message.text, self._skills) is not None:
            invocation = None
        denied = denial(command, role, policy.access)
        if command is not None and denied is not None:
            return self._deny(session, message, denied, f"/{command.name} as {role}")
        inbox.remember_sender(session, message, now)
        key = thread_key(message, policy.sessions)
        opens = command is not None and command.opens_thread
        if invocation is None:
            thread = _continued(session, message, now) or threads.resolve(
                session, key, message.dedupe_key, new_id(), now
            )
            lane, kind = thread_lane(thread.id), InboundKind.MESSAGE
        else:
            resolve = threads.open_next if opens else threads.resolve
            thread = resolve(session, key, message.dedupe_key, new_id(), now)
            lane, kind = control_lane(message.address), InboundKind.COMMAND
        inbox.add(session, message, kind, now, lane=lane, thread_id=thread.id)
        if invocation is None or not (opens and invocation.argument):
            return {lane}
        # ``/new`` followed by text: the text is the new conversation's first message.
        first = replace(message, text=invocation.argument, dedupe_key=f"{message.dedupe_key}:text")
        run_lane = thread_lane(thread.id)
        inbox.add(session, first, InboundKind.MESSAGE, now, lane=run_lane, thread_id=thread.id)
        return {lane, run_lane}

    def _reply(self, session: Session, message: InboundMessage, reply: str) -> set[Lane]:
        drafts = reply_drafts(f"no:{message.dedupe_key}", message, reply, self._channels.split)
        return outbox.add(session, drafts, self._now())


def _continued(session: Session, message: InboundMessage, now: datetime) -> Thread | None:
    """The thread of a task's run, when a message answers what it posted, or what followed on that.

    What went to several chats is continued in each by itself: they must not hear of each other.
    """
    if message.reply_to is None:
        return None
    thread_id = outbox.thread_posted(session, message.address, message.reply_to)
    thread = None if thread_id is None else threads.continued(session, thread_id)
    if thread is None or outbox.chats_of_thread(session, thread.id) == 1:
        return thread
    key = f"{thread.key}@{chat_key(message.address)}"
    return threads.fork(session, thread, key, message.dedupe_key, new_id(), now)


def _clean(message: InboundMessage) -> InboundMessage:
    """The message with every string made storable."""
    address = message.address
    return replace(
        message,
        address=Address(
            address.channel,
            address.account,
            storable(address.chat_id),
            None if address.platform_thread is None else storable(address.platform_thread),
        ),
        sender=Sender(storable(message.sender.id), storable(message.sender.name), message.sender.is_bot),
        message_id=storable(message.message_id),
        dedupe_key=storable(message.dedupe_key),
        text=storable(message.text),
        attachments=tuple(
            Attachment(
                storable(file.name),
                storable(file.ref),
                file.size,
                None if file.mime is None else storable(file.mime),
            )
            for file in message.attachments
        ),
        reply_to=None if message.reply_to is None else storable(message.reply_to),
        action=None if message.action is None else storable(message.action),
        reply_via=None if message.reply_via is None else storable(message.reply_via),
        part_of=None if message.part_of is None else storable(message.part_of),
    )
