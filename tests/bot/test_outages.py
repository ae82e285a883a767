"""A platform that cannot be reached for ten minutes: everything arrives in the end, in order and once."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from bot.app import Hart
from bot.store.tables import Delivery, Inbound
from tests.clock import ManualClock
from tests.emulators.openai import ChatRequest, OpenAIEmulator, Reply, echo
from tests.engine.ledger import eventually, rows
from tests.hart import Site, hart_on
from tests.platforms import Platform

STEP = timedelta(minutes=1)
"""As long as the longest wait between two tries."""


async def test_what_was_answered_while_the_platform_was_away_arrives_in_order_and_once(
    tmp_path, openai: OpenAIEmulator, platform: Platform
) -> None:
    site, clock, go_on = Site(tmp_path), ManualClock(), asyncio.Event()

    async def model(request: ChatRequest) -> Reply:
        await go_on.wait()
        return echo(request)

    openai.responder = model
    site.use_openai(openai)
    site.config["limits"] = {"model_retries": 0, "drain_seconds": 0}
    platform.use(site)
    ann = platform.person("Ann")
    places = [platform.direct(ann), platform.thread(platform.group("Ops"), ann)]
    before, meanwhile, after = [f"before {number}" for number in range(4)], ["meanwhile"], ["after"]
    async with hart_on(site, clock) as hart:
        await platform.wait_until_listening()
        for text in before:
            for place in places:
                platform.say(place, ann, text)
        await eventually(lambda: _heard(hart, len(places) * len(before)))
        async with platform.offline():
            go_on.set()
            await eventually(lambda: _waiting(hart, clock, len(places) * len(before)))
            for place in places:
                platform.say(place, ann, meanwhile[0])
            for _ in range(10):
                tried = await _tries(hart)
                clock.move(STEP)
                await hart.engine.sweep()
                await eventually(lambda tried=tried: _tried_again(hart, clock, tried))
            assert platform.seen() == []
        clock.move(STEP)
        await hart.engine.sweep()
        await platform.wait_for_seen(len(places) * len(before + meanwhile))
        for place in places:
            platform.say(place, ann, after[0])
        await platform.wait_for_seen(len(places) * len(before + meanwhile + after))
        deliveries = await eventually(lambda: _all_sent(hart))

    for place in places:
        told = [seen.text for seen in platform.seen() if seen.place == place]
        assert told == [f"answer to: {text}" for text in before + meanwhile + after]
    assert not any(delivery.possible_repeat for delivery in deliveries)
    assert max(delivery.attempts for delivery in deliveries) > 10


async def _heard(hart: Hart, count: int) -> bool:
    return len(await rows(hart, Inbound)) == count


async def _waiting(hart: Hart, clock: ManualClock, count: int) -> bool:
    """Whether all is answered, and the first delivery of each chat waits for its next try."""
    deliveries = await rows(hart, Delivery)
    heads = {one.lane: one for one in reversed(deliveries)}
    return len(deliveries) == count and all(_waits(one, clock) for one in heads.values())


async def _all_sent(hart: Hart) -> Sequence[Delivery]:
    deliveries = await rows(hart, Delivery)
    return deliveries if all(delivery.state == "sent" for delivery in deliveries) else ()


async def _tries(hart: Hart) -> list[int]:
    return [delivery.attempts for delivery in await rows(hart, Delivery) if delivery.attempts]


async def _tried_again(hart: Hart, clock: ManualClock, before: list[int]) -> bool:
    tried = [one for one in await rows(hart, Delivery) if one.attempts]
    return [one.attempts for one in tried] == [tries + 1 for tries in before] and all(
        _waits(one, clock) for one in tried
    )


def _waits(delivery: Delivery, clock: ManualClock) -> bool:
    return delivery.state == "open" and delivery.not_before is not None and delivery.not_before > clock()
