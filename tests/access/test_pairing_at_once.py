"""Strangers, approvers and presses that come at the same moment, on both storages."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial

import pytest
from sqlmodel import select

from bot import codes
from bot.app import Hart, Parts
from bot.config import Role
from bot.pairing import OPERATOR
from bot.store import actions, pairing
from bot.store.tables import Delivery, Grant, Inbound, PairingRequest
from channels.messages import Address, ChatKind, InboundMessage, Sender
from tests.access.conftest import OWNER
from tests.clock import ManualClock
from tests.engine.ledger import eventually, rows
from tests.hart import Site, hart_on

DEAF = Parts(platforms=False, schedule=False)

HELLO = InboundMessage(
    address=Address("telegram", "main", "7"),
    chat_kind=ChatKind.DIRECT,
    sender=Sender("7", "Ada"),
    message_id="1",
    dedupe_key="k1",
    text="hello",
)


def from_sender(number: int, key: str) -> InboundMessage:
    return replace(
        HELLO, address=Address("telegram", "main", str(number)), sender=Sender(str(number)), dedupe_key=key
    )


@pytest.fixture
async def hart(house: Site, clock: ManualClock) -> AsyncIterator[Hart]:
    async with hart_on(house, clock, DEAF) as running:
        yield running


async def test_a_stranger_who_writes_ten_times_at_once_gets_one_code(hart: Hart) -> None:
    await asyncio.gather(*(hart.inbox.accept(from_sender(7, f"k{number}")) for number in range(10)))
    assert len(await rows(hart, PairingRequest)) == 1
    assert len(await rows(hart, Delivery)) == 1


async def test_of_ten_strangers_at_once_three_are_in_line_and_each_is_answered_once(hart: Hart) -> None:
    await asyncio.gather(*(hart.inbox.accept(from_sender(number, f"k{number}")) for number in range(10, 20)))
    assert len(await rows(hart, PairingRequest)) == 3
    assert len(await rows(hart, Delivery)) == 10


async def give_code(hart: Hart, clock: ManualClock) -> str:
    """A stranger in line, with a code that the test knows."""
    await hart.inbox.accept(HELLO)

    async def settled() -> bool:
        (delivery,) = await rows(hart, Delivery)
        return delivery.state == "failed"  # the emulated Telegram has no such chat

    await eventually(settled)
    (request,) = await rows(hart, PairingRequest)
    code = codes.new_code()
    kept = codes.keep(code)
    give = partial(pairing.give_code, request_id=request.id, code=kept, now=clock())
    assert await hart.database.run(give)
    return code


async def test_of_two_who_approve_a_code_at_once_one_does(hart: Hart, clock: ManualClock) -> None:
    code = await give_code(hart, clock)
    both = await asyncio.gather(
        *(hart.pairing.approve(OPERATOR, code, Role.MEMBER, f"a{number}") for number in range(2))
    )
    assert sorted(outcome.done for outcome in both) == [False, True]
    assert len(await rows(hart, Grant)) == 1


async def test_a_button_pressed_twice_at_once_is_one_command(hart: Hart, clock: ManualClock) -> None:
    owner = from_sender(OWNER, "")
    add = partial(
        actions.add,
        action_id="a" * 16,
        command="/status",
        address=owner.address,
        sender_id=str(OWNER),
        now=clock(),
    )
    await hart.database.run(add)
    presses = [replace(owner, text="", action="a" * 16, dedupe_key=f"p{number}") for number in range(6)]
    await asyncio.gather(*(hart.inbox.accept(press) for press in presses))
    kinds = await hart.database.run(lambda session: list(session.exec(select(Inbound.kind))))
    assert sorted(kinds) == ["command"] + ["denied"] * 5


def test_the_codes_are_of_characters_that_nobody_confuses() -> None:
    assert len(codes.ALPHABET) == 31
    assert not set("0O1IL") & set(codes.ALPHABET)
    made = {codes.new_code() for _ in range(500)}
    assert len(made) == 500
    assert all(codes.read(code) == code.replace("-", "") for code in made)


@pytest.mark.parametrize("typed", ["abcd-efgh", " ABCD EFGH ", "`abcdefgh`", "ABCDEFGH"])
def test_a_code_is_read_however_it_is_typed(typed: str) -> None:
    kept = codes.keep("ABCD-EFGH")
    read = codes.read(typed)
    assert read == "ABCDEFGH"
    assert codes.matches(read, kept)
    assert not codes.matches("ABCDEFGJ", kept)


@pytest.mark.parametrize("typed", ["", "ABCD-EFG", "ABCD-EFGHJ", "ABCD-EFG0", "ÄBCD-EFGH", "ABCD-EFGI"])
def test_what_cannot_be_a_code_is_none(typed: str) -> None:
    assert codes.read(typed) is None


def test_equal_codes_are_kept_as_different_bytes() -> None:
    first, second = codes.keep("ABCD-EFGH"), codes.keep("ABCD-EFGH")
    assert first.salt != second.salt
    assert first.digest != second.digest
    assert "ABCD" not in str(first)
