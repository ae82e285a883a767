"""Sending a chat's deliveries in order, and recording what people really got."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from sqlmodel import Session

from bot import codes
from bot.clock import Clock
from bot.directory import ChannelDirectory
from bot.engine.fence import Fence, FenceKeeper
from bot.engine.steps import Observer, Step
from bot.engine.task_endings import tell_undelivered
from bot.engine.wakes import Wakes
from bot.home import Home
from bot.lanes import Lane
from bot.messages import load_buttons
from bot.store import lanes, outbox, pairing
from bot.store.database import Database
from bot.store.tables import Delivery
from channels.channel import Channel
from channels.errors import AmbiguousSendError, FileRefusedError, PermanentSendError, TransientSendError
from channels.messages import Address, OutboundFile, OutboundMessage, OutboundText

log = logging.getLogger(__name__)

BACKOFF_SECONDS = (1, 2, 5, 15, 30, 60)
"""How long to wait after the first, second, … try that a platform or network failed."""

AMBIGUOUS_TRIES = 5
"""Tries that may each have reached people, before we stop: a chat full of copies is worse than none."""

GIVE_UP_AFTER = timedelta(hours=24)
"""How old a delivery may get before a platform that is still down no longer gets it."""

CHANNEL_OFF_SECONDS = 30
"""How long to wait for a channel that is off on this node, as during an upgrade."""


class DeliveryWorker:
    """Delivers.

    Args:
        database: The ledger.
        channels: Where to send.
        home: Where outgoing files lie.
        fences: Confirms what this process holds.
        wakes: How to ask for a later try.
        now: The clock.
        step: Told of each step.
    """

    def __init__(
        self,
        *,
        database: Database,
        channels: ChannelDirectory,
        home: Home,
        fences: FenceKeeper,
        wakes: Wakes,
        now: Clock,
        step: Observer,
    ) -> None:
        self._database = database
        self._channels = channels
        self._home = home
        self._fences = fences
        self._wakes = wakes
        self._now = now
        self._step = step
        self._draining = False

    def drain(self) -> None:
        """Begin no further send."""
        self._draining = True

    async def deliver(self, lane: Lane) -> None:
        """Send a chat's open deliveries until none is left or one must wait. Idempotent."""
        epoch = await self._database.run(partial(lanes.take, lane=lane))
        with self._fences.holding(lane, epoch) as fence:
            while not self._draining and await self._next(lane, fence):
                pass

    async def _next(self, lane: Lane, fence: Fence) -> bool:
        """Settle one delivery; False when none is left or the oldest must wait."""
        delivery = await self._database.run(partial(outbox.first_unsent, lane=lane))
        if delivery is None:
            return False
        if delivery.not_before is not None and delivery.not_before > self._now():
            self._wakes.at(lane, delivery.not_before)
            return False
        channel = self._channels.find(_address(delivery))
        if channel is None:
            return await self._channel_off(lane, fence, delivery)
        unsure = delivery.unsettled_since
        repeat = may_repeat(delivery, channel.idempotent_for, self._now())
        fence.check()
        mark = partial(outbox.mark_sending, delivery=delivery, repeat=repeat, now=self._now())
        await self._write(fence, mark)
        text = await self._with_code(fence, delivery)
        if text is None:
            await self._fail(fence, delivery, "nobody waits for this code any more")
            return True
        self._step(Step.SENDING)
        return await self._try(lane, fence, channel, delivery, text, unsure)

    async def _with_code(self, fence: Fence, delivery: Delivery) -> str | None:
        """The text as people get it: a pairing code is made for each try, and stored only as its hash.

        None when the request behind the code is gone.
        """
        text = delivery.text or ""
        if delivery.pairing_id is None:
            return text
        code = codes.new_code()
        kept = await asyncio.to_thread(codes.keep, code)

        def give(session: Session) -> bool:
            lanes.hold(session, fence.lane, fence.epoch)
            assert delivery.pairing_id is not None
            return pairing.give_code(session, delivery.pairing_id, kept, self._now())

        return text.replace(codes.PLACE, code) if await self._database.run(give) else None

    async def _try(
        self,
        lane: Lane,
        fence: Fence,
        channel: Channel,
        delivery: Delivery,
        text: str,
        unsure: datetime | None,
    ) -> bool:
        """Send; ``unsure`` is the first of the tries before that may have reached people."""
        assert delivery.id is not None
        fence.check()
        try:
            receipt = await channel.send(self._message(delivery, text))
        except PermanentSendError as error:
            return await self._refused(fence, delivery, error)
        except TransientSendError as error:
            unsent = partial(outbox.mark_unsent, unsettled_since=unsure)
            return await self._later(lane, fence, delivery, error, unsent, error.retry_after)
        except AmbiguousSendError as error:
            return await self._unsure(lane, fence, delivery, error)
        except Exception as error:
            # A fault of ours: it may have struck after the message had left, and may strike every time.
            log.exception("delivery %d", delivery.id)
            return await self._unsure(lane, fence, delivery, error)
        self._step(Step.POSTED)
        mark = partial(outbox.mark_sent, delivery_id=delivery.id, receipt=receipt.message_id, now=self._now())
        await self._write(fence, mark)
        self._step(Step.SENT)
        return True

    def _message(self, delivery: Delivery, text: str) -> OutboundMessage:
        if delivery.file_path is not None:
            assert delivery.file_name is not None
            content: OutboundText | OutboundFile = OutboundFile(
                self._home.outgoing(delivery.file_path),
                delivery.file_name,
                delivery.file_mime or "application/octet-stream",
            )
        else:
            content = OutboundText(text, load_buttons(delivery.buttons) if delivery.buttons else ())
        return OutboundMessage(
            address=_address(delivery),
            # Each try of a code has another one: the platform must not take it for the same message.
            key=f"{delivery.key}:{delivery.attempts}" if delivery.pairing_id else delivery.key,
            content=content,
            reply_to=delivery.in_reply_to if delivery.quote else None,
            possible_repeat=delivery.possible_repeat,
            reply_via=delivery.reply_via,
        )

    async def _refused(self, fence: Fence, delivery: Delivery, error: PermanentSendError) -> bool:
        """After a try that no other could better; in the place of a file people are told of it."""
        if delivery.file_path is None:
            await self._fail(fence, delivery, str(error))
            return True
        assert delivery.id is not None
        log.warning("delivery %d of run %s: file not sent: %s", delivery.id, delivery.run_id, error)
        mark = partial(
            outbox.mark_replaced,
            delivery_id=delivery.id,
            error=str(error),
            text=unsent_file(delivery.file_name or "the file", error),
        )
        await self._write(fence, mark)
        return True

    async def _unsure(self, lane: Lane, fence: Fence, delivery: Delivery, error: Exception) -> bool:
        """After a try that may have reached people."""
        if delivery.attempts >= AMBIGUOUS_TRIES:
            return await self._give_up(fence, delivery, error)
        return await self._later(lane, fence, delivery, error, outbox.mark_unsure)

    async def _later(
        self,
        lane: Lane,
        fence: Fence,
        delivery: Delivery,
        error: Exception,
        note: Callable[..., None],
        retry_after: float | None = None,
    ) -> bool:
        """Try again after a while, which ``note`` writes down."""
        if self._now() - delivery.created_at > GIVE_UP_AFTER:
            return await self._give_up(fence, delivery, error)
        wait = retry_after or BACKOFF_SECONDS[min(delivery.attempts, len(BACKOFF_SECONDS)) - 1]
        until = self._now() + timedelta(seconds=wait)
        log.info("delivery %d waits %.0f s: %s", delivery.id, wait, error)
        mark = partial(note, delivery_id=delivery.id, error=str(error), not_before=until)
        await self._write(fence, mark)
        self._wakes.at(lane, until)
        return False

    async def _give_up(self, fence: Fence, delivery: Delivery, error: Exception) -> bool:
        await self._fail(fence, delivery, f"given up after {delivery.attempts} tries: {error}")
        return True

    async def _channel_off(self, lane: Lane, fence: Fence, delivery: Delivery) -> bool:
        if self._now() - delivery.created_at > GIVE_UP_AFTER:
            await self._fail(fence, delivery, f"channel {delivery.channel}/{delivery.account} is off")
            return True
        self._wakes.at(lane, self._now() + timedelta(seconds=CHANNEL_OFF_SECONDS))
        return False

    async def _fail(self, fence: Fence, delivery: Delivery, error: str) -> None:
        assert delivery.id is not None
        log.warning("delivery %d of run %s failed: %s", delivery.id, delivery.run_id, error)
        await self._write(fence, partial(outbox.mark_failed, delivery_id=delivery.id, error=error))
        tell = partial(
            tell_undelivered, delivery=delivery, error=error, now=self._now(), split=self._channels.split
        )
        # By itself: whoever is told has a lane of their own, which must not be waited for while ours is held.
        for lane in await self._database.run(tell):
            await self._wakes.now(lane)

    async def _write(self, fence: Fence, work: partial[None]) -> None:
        def held(session: Session) -> None:
            lanes.hold(session, fence.lane, fence.epoch)
            work(session)

        await self._database.run(held)


def may_repeat(delivery: Delivery, idempotent_for: timedelta | None, now: datetime) -> bool:
    """Whether sending a delivery now could show people a second copy. Pure.

    Args:
        delivery: What is to be sent.
        idempotent_for: How long the platform knows a send again by its key.
        now: When it is to be sent.
    """
    since = delivery.unsettled_since
    if delivery.possible_repeat or since is None:
        return delivery.possible_repeat
    return delivery.pairing_id is not None or idempotent_for is None or now - since >= idempotent_for


def unsent_file(name: str, error: PermanentSendError) -> str:
    """What to tell people in the place of a file. Pure."""
    reason = str(error) if isinstance(error, FileRefusedError) else "the platform does not take it"
    return f"I could not send you {name}: {reason}."


def _address(delivery: Delivery) -> Address:
    return Address(delivery.channel, delivery.account, delivery.chat_id, delivery.platform_thread)
