"""Sending a chat's deliveries in order, and recording what people really got."""

import asyncio
import logging
from datetime import timedelta
from functools import partial

from sqlmodel import Session

from bot import codes
from bot.clock import Clock
from bot.directory import ChannelDirectory
from bot.engine.fence import Fence, FenceKeeper
from bot.engine.steps import Observer, Step
from bot.engine.wakes import Wakes
from bot.home import Home
from bot.lanes import Lane
from bot.messages import load_buttons
from bot.store import lanes, outbox, pairing
from bot.store.database import Database
from bot.store.states import DeliveryState
from bot.store.tables import Delivery
from channels.channel import Channel
from channels.errors import AmbiguousSendError, PermanentSendError, TransientSendError
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
        repeat = delivery.possible_repeat or (
            delivery.state == DeliveryState.SENDING and not channel.idempotent
        )
        fence.check()
        await self._write(fence, partial(outbox.mark_sending, delivery=delivery, repeat=repeat))
        text = await self._with_code(fence, delivery)
        if text is None:
            await self._fail(fence, delivery, "nobody waits for this code any more")
            return True
        self._step(Step.SENDING)
        return await self._try(lane, fence, channel, delivery, text)

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

    async def _try(self, lane: Lane, fence: Fence, channel: Channel, delivery: Delivery, text: str) -> bool:
        assert delivery.id is not None
        fence.check()
        try:
            receipt = await channel.send(self._message(delivery, text))
        except PermanentSendError as error:
            await self._fail(fence, delivery, str(error))
            return True
        except TransientSendError as error:
            return await self._later(lane, fence, delivery, error, error.retry_after, ambiguous=False)
        except AmbiguousSendError as error:
            return await self._later(lane, fence, delivery, error, None, ambiguous=True)
        except Exception as error:
            # A fault of ours: it may have struck after the message had left, and may strike every time.
            log.exception("delivery %d", delivery.id)
            return await self._later(lane, fence, delivery, error, None, ambiguous=True)
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
            key=delivery.key,
            content=content,
            reply_to=delivery.in_reply_to if delivery.quote else None,
            possible_repeat=delivery.possible_repeat,
        )

    async def _later(
        self,
        lane: Lane,
        fence: Fence,
        delivery: Delivery,
        error: Exception,
        retry_after: float | None,
        *,
        ambiguous: bool,
    ) -> bool:
        assert delivery.id is not None
        too_often = ambiguous and delivery.attempts >= AMBIGUOUS_TRIES
        if too_often or self._now() - delivery.created_at > GIVE_UP_AFTER:
            await self._fail(fence, delivery, f"given up after {delivery.attempts} tries: {error}")
            return True
        wait = retry_after or BACKOFF_SECONDS[min(delivery.attempts, len(BACKOFF_SECONDS)) - 1]
        until = self._now() + timedelta(seconds=wait)
        log.info("delivery %d waits %.0f s: %s", delivery.id, wait, error)
        mark = partial(
            outbox.mark_retry,
            delivery_id=delivery.id,
            error=str(error),
            not_before=until,
            ambiguous=ambiguous,
        )
        await self._write(fence, mark)
        self._wakes.at(lane, until)
        return False

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

    async def _write(self, fence: Fence, work: partial[None]) -> None:
        def held(session: Session) -> None:
            lanes.hold(session, fence.lane, fence.epoch)
            work(session)

        await self._database.run(held)


def _address(delivery: Delivery) -> Address:
    return Address(delivery.channel, delivery.account, delivery.chat_id, delivery.platform_thread)
