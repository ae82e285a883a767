"""A platform that knows a message again for an hour: what is sent again within it, and after it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from bot.app import Hart
from bot.config.channels import Role
from bot.engine.delivery import may_repeat
from bot.pairing import OPERATOR
from bot.store.tables import Delivery
from channels.text import REPEAT_MARK
from tests.access.conftest import code_in
from tests.clock import ManualClock
from tests.emulators.feishu import DropAfter, FeishuEmulator, too_many
from tests.emulators.openai import OpenAIEmulator
from tests.engine.ledger import eventually, rows
from tests.hart import Site, hart_on

NOW = datetime(2026, 11, 2, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)


def delivery(**state: object) -> Delivery:
    """A delivery in some state."""
    return Delivery(key="k", lane="l", channel="c", account="a", chat_id="1", created_at=NOW, **state)


@pytest.mark.parametrize(
    ("state", "window", "repeats"),
    [
        ({}, None, False),
        ({}, HOUR, False),
        ({"unsettled_since": NOW - 2 * HOUR}, None, True),
        ({"unsettled_since": NOW}, None, True),
        ({"unsettled_since": NOW - HOUR + timedelta.resolution}, HOUR, False),
        ({"unsettled_since": NOW - HOUR}, HOUR, True),
        ({"unsettled_since": NOW - 999 * HOUR}, timedelta.max, False),
        ({"unsettled_since": NOW, "pairing_id": "p"}, HOUR, True),
        ({"pairing_id": "p"}, HOUR, False),
        ({"possible_repeat": True}, HOUR, True),
    ],
)
def test_what_may_be_seen_twice(state: dict[str, object], window: timedelta | None, repeats: bool) -> None:
    assert may_repeat(delivery(**state), window, NOW) is repeats


class Times:
    """The clocks of Hart and of the platform, moved together."""

    def __init__(self, hart: Hart, clock: ManualClock, feishu: FeishuEmulator) -> None:
        self.hart = hart
        self._clock = clock
        self._feishu = feishu

    async def after(self, span: timedelta, posts: int) -> None:
        """Let time pass, and wait until so many posts have been tried in all."""
        assert await eventually(self.waiting)
        self._clock.move(span)
        await self.hart.engine.sweep()
        await self._feishu.wait_for(lambda: self._feishu.count("create") == posts, 30)

    async def waiting(self) -> list[Delivery]:
        """Deliveries that wait for another try."""
        return [
            one
            for one in await rows(self.hart, Delivery)
            if one.not_before and one.not_before > self._clock()
        ]

    async def sent(self) -> Delivery:
        """The one delivery, once it is sent."""

        async def look() -> list[Delivery]:
            return [one for one in await rows(self.hart, Delivery) if one.state == "sent"]

        (found,) = await eventually(look)
        return found


@pytest.fixture
def times(site: Site, openai: OpenAIEmulator, feishu: FeishuEmulator):
    """Starts Hart with Feishu alone."""
    site.use_openai(openai)
    clock = ManualClock()
    feishu.now = lambda: clock().timestamp()

    @asynccontextmanager
    async def start(**account: object) -> AsyncIterator[Times]:
        site.use_feishu(feishu, **account)
        async with hart_on(site, clock) as hart:
            await feishu.wait_until_connected()
            ann = feishu.user("Ann")
            feishu.say(feishu.p2p(ann), ann, "hello")
            yield Times(hart, clock, feishu)

    return start


async def test_within_the_hour_a_second_send_shows_nothing_new_and_needs_no_word(times, feishu) -> None:
    feishu.faults.add("create", DropAfter())
    async with times() as time:
        await time.after(timedelta(minutes=50), posts=2)
        delivery = await time.sent()
    assert [sent.text for sent in feishu.sent] == ["answer to: hello"]
    assert (delivery.attempts, delivery.possible_repeat) == (2, False)


async def test_after_the_hour_it_says_that_it_may_be_a_repeat(times, feishu) -> None:
    feishu.faults.add("create", DropAfter())
    async with times() as time:
        await time.after(timedelta(minutes=61), posts=2)
        delivery = await time.sent()
    assert [sent.text for sent in feishu.sent] == ["answer to: hello", f"{REPEAT_MARK}\n\nanswer to: hello"]
    assert (delivery.attempts, delivery.possible_repeat) == (2, True)


async def test_a_refusal_in_between_does_not_make_the_first_try_forgotten(times, feishu) -> None:
    feishu.faults.add("create", DropAfter())
    feishu.faults.add("create", too_many(1))
    async with times() as time:
        await time.after(timedelta(minutes=5), posts=2)
        await time.after(timedelta(minutes=61), posts=3)
        assert (await time.sent()).possible_repeat
    assert feishu.sent[-1].text == f"{REPEAT_MARK}\n\nanswer to: hello"


async def test_tries_that_surely_reached_nobody_do_not_count(times, feishu) -> None:
    feishu.faults.add("create", too_many(1))
    feishu.faults.add("create", DropAfter())
    async with times() as time:
        await time.after(timedelta(minutes=90), posts=2)
        await time.after(timedelta(minutes=5), posts=3)
        delivery = await time.sent()
    assert [sent.text for sent in feishu.sent] == ["answer to: hello"]
    assert (delivery.attempts, delivery.possible_repeat) == (3, False)


async def test_a_code_that_is_sent_again_is_another_message_with_a_code_that_is_good(times, feishu) -> None:
    feishu.faults.add("create", DropAfter())
    async with times(access={"dm": "pairing"}) as time:
        await time.after(timedelta(minutes=1), posts=2)
        await time.sent()
        first, second = (code_in(sent.text) for sent in feishu.sent)
        assert first != second
        outcomes = [
            await time.hart.pairing.approve(OPERATOR, code, Role.MEMBER, f"approval {code}")
            for code in (first, second)
        ]
    assert [outcome.done for outcome in outcomes] == [False, True]
    assert feishu.sent[1].text.startswith(REPEAT_MARK)
