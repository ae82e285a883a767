"""Telegram's limits are kept, and flood control holds up the chat it is about and no other."""

import asyncio

import pytest

from channels.budgets import TELEGRAM
from channels.errors import TransientSendError
from channels.messages import Address, OutboundMessage, OutboundText
from channels.views import RunView


class Clock:
    """Time that a wait moves at once."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def pause(self, seconds: float) -> None:
        self.waits.append(round(seconds, 3))
        self.now += seconds
        await asyncio.sleep(0)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def channel(build, clock):
    return build(limits=TELEGRAM, monotonic=clock, pause=clock.pause)


def to(chat, text="hello"):
    return OutboundMessage(Address("telegram", "main", str(chat.id)), "k", OutboundText(text))


async def test_a_burst_goes_out_at_once_and_the_rest_a_second_apart_on_average(tg, channel, clock):
    chat = tg.private_chat(tg.user(501, "Ann"))
    for number in range(9):
        await channel.send(to(chat, str(number)))

    assert clock.waits == [3, 3]
    assert [sent.text for sent in tg.sent] == [str(number) for number in range(9)]


async def test_a_group_gets_twenty_a_minute_and_what_is_more_goes_back_to_the_outbox(tg, channel, clock):
    group = tg.group("Ops")
    for _ in range(20):
        await channel.send(to(group))
    with pytest.raises(TransientSendError) as caught:
        await channel.send(to(group))
    assert len(tg.sent) == 20

    assert caught.value.retry_after is not None
    clock.now += caught.value.retry_after
    await channel.send(to(group))
    assert clock.now >= 160


async def test_typing_leaves_the_budget_of_answers_alone(tg, channel, clock):
    group = tg.group("Ops")
    for _ in range(20):
        await channel.show(Address("telegram", "main", str(group.id)), RunView("r1", None))
        clock.now += 0.01
    for _ in range(3):
        await channel.send(to(group))

    assert clock.waits == []
    assert tg.count("sendChatAction") == 1


async def test_a_message_whose_turn_is_far_off_is_surely_not_posted(tg, channel, clock):
    group = tg.group("Ops")
    for _ in range(20):
        await channel.send(to(group))
    before = tg.count("sendMessage")
    for _ in range(2):
        with pytest.raises(TransientSendError, match="limits"):
            await channel.send(to(group))

    assert tg.count("sendMessage") == before
