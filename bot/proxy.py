"""The MessageProxy: from what a platform delivers to rows in the ledger and lanes to serve."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlmodel import Session

from bot.access import Heard, Refused, Unheard, decide
from bot.clock import Clock, new_id
from bot.commands.parse import parse_command
from bot.commands.registry import Registry
from bot.config.channels import Access, Sessions
from bot.directory import ChannelDirectory
from bot.engine.answers import reply_drafts
from bot.engine.steps import Observer, Step
from bot.engine.wakes import Wakes
from bot.lanes import Lane, control_lane, thread_lane
from bot.messages import storable
from bot.store import inbox, outbox, threads
from bot.store.database import Database, StoreUnavailableError
from bot.store.states import InboundKind
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
        commands: The commands there are.
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
        commands: Registry,
        channels: ChannelDirectory,
        wakes: Wakes,
        now: Clock,
        step: Observer,
    ) -> None:
        self._database = database
        self._policies = policies
        self._commands = commands
        self._channels = channels
        self._wakes = wakes
        self._now = now
        self._step = step

    async def accept(self, message: InboundMessage) -> None:
        """See :class:`channels.channel.Inbox`."""
        message = _clean(message)
        policy = self._policies[message.address.channel, message.address.account]
        decision = decide(message, policy.access)
        if isinstance(decision, Unheard):
            log.debug("not heard on %s: %s", message.address.channel, decision.reason)
            return
        if not message.text.strip() and not message.attachments:
            log.debug("nothing in the message from %s", message.address.channel)
            return

        def store(session: Session) -> set[Lane]:
            if inbox.known(session, message.dedupe_key):
                return set()
            match decision:
                case Refused(reply=reply):
                    return self._store_refused(session, message, reply)
                case Heard():
                    return self._store_heard(session, message, policy)

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

    def _store_refused(self, session: Session, message: InboundMessage, reply: str) -> set[Lane]:
        """Tell a stranger how to get in, once an hour; keep nothing of what they wrote."""
        now = self._now()
        if inbox.refused_since(session, message.address, message.sender.id, now - REFUSAL_EVERY):
            return set()
        inbox.add_closed(
            session,
            message.address,
            message.dedupe_key,
            InboundKind.REFUSED,
            now,
            note="no access",
            sender_id=message.sender.id,
        )
        return self._reply(session, message, reply, now)

    def _store_heard(self, session: Session, message: InboundMessage, policy: Policy) -> set[Lane]:
        now = self._now()
        if len(message.text) > MAX_CHARACTERS:
            inbox.add_closed(
                session,
                message.address,
                message.dedupe_key,
                InboundKind.REJECTED,
                now,
                note=f"{len(message.text)} characters long",
                body=message.text[:MAX_RAW_CHARACTERS],
                sender_id=message.sender.id,
            )
            reply = (
                f"That message is too long for me ({len(message.text):,} characters; I take up to "
                f"{MAX_CHARACTERS:,}). Send it as a file, or in parts."
            )
            return self._reply(session, message, reply, now)
        inbox.remember_sender(session, message, now)
        key = thread_key(message, policy.sessions)
        invocation = parse_command(message.text)
        opens = False
        if invocation is None:
            thread = threads.resolve(session, key, message.dedupe_key, new_id(), now)
            lane, kind = thread_lane(thread.id), InboundKind.MESSAGE
        else:
            command = self._commands.find(invocation.name)
            opens = command is not None and command.opens_thread
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

    def _reply(self, session: Session, message: InboundMessage, reply: str, now: datetime) -> set[Lane]:
        drafts = reply_drafts(
            f"no:{message.dedupe_key}", message.address, reply, self._channels.split, message.message_id
        )
        return outbox.add(session, drafts, now)


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
    )
