"""What people write is heard in full and once, and nothing else is."""

import pytest

from channels.messages import ChatKind
from tests.contract.bench import Bench, PlatformBench
from tests.contract.benches import connected, everywhere, heard_from_platforms

TEXT = "Grüße & 世界 <b>👩‍👩‍👧‍👦</b>\nnext line, `code` and 50 %"


@everywhere
async def test_a_direct_message_is_heard_in_full(bench: Bench) -> None:
    home = bench.direct()
    async with bench.listening(bench.build()):
        said = bench.say(home, TEXT)
        (message,) = await bench.inbox.wait_for(1)
        await bench.wait_until_heard()

    assert message.text == TEXT
    assert (message.address.chat_id, message.address.platform_thread) == (home.chat, None)
    assert (message.message_id, message.chat_kind) == (said, ChatKind.DIRECT)
    assert message.addressed
    assert not message.sender.is_bot
    assert message.action is None
    assert message.sender.id


@heard_from_platforms
async def test_a_mention_is_noticed_and_taken_out(bench: PlatformBench) -> None:
    group = bench.group()
    async with bench.listening(bench.build()):
        bench.say(group, "what is up?", mention=True)
        bench.say(group, "among ourselves")
        messages = await bench.inbox.wait_for(2)
        await bench.wait_until_heard()

    assert {message.text: message.addressed for message in messages} == {
        "what is up?": True,
        "among ourselves": False,
    }
    assert {message.chat_kind for message in messages} == {ChatKind.GROUP}
    assert {message.address.chat_id for message in messages} == {group.chat}


@heard_from_platforms
async def test_threads_are_told_apart(bench: PlatformBench) -> None:
    first, second, home = bench.thread(), bench.thread(), bench.direct()
    async with bench.listening(bench.build()):
        for place in (first, second, home, first):
            bench.say(place, f"in {place.chat}/{place.thread}", mention=place.thread is not None)
        messages = await bench.inbox.wait_for(4)

    where = {message.text: (message.address.chat_id, message.address.platform_thread) for message in messages}
    assert where == {
        f"in {place.chat}/{place.thread}": (place.chat, place.thread) for place in (first, second, home)
    }


@connected
async def test_messages_of_a_chat_keep_their_order(bench: PlatformBench) -> None:
    thread = bench.thread()
    async with bench.listening(bench.build()):
        for number in range(40):
            bench.say(thread, f"{number}")
        await bench.inbox.wait_for(40)

    assert bench.inbox.texts == [f"{number}" for number in range(40)]


@heard_from_platforms
async def test_bots_and_edits_start_nothing(bench: PlatformBench) -> None:
    group = bench.group()
    async with bench.listening(bench.build()):
        said = bench.say(group, "first")
        await bench.inbox.wait_for(1)
        bench.say_as_bot(group, "hello, fellow bot")
        bench.edit(group, said, "first, but changed")
        bench.say(group, "last")
        await bench.inbox.wait_for(2)
        await bench.wait_until_heard()

    assert sorted(bench.inbox.texts) == ["first", "last"]
    assert bench.inbox.rejected == []


@heard_from_platforms
async def test_garbage_is_set_aside_and_the_rest_goes_on(bench: PlatformBench) -> None:
    home = bench.direct()
    async with bench.listening(bench.build()):
        bench.say(home, "before")
        await bench.inbox.wait_for(1)
        on_record = bench.garbage()
        for number in range(5):
            bench.say(home, f"between {number}")
        bench.garbage()
        bench.say(home, "after")
        await bench.inbox.wait_for(7)
        await bench.wait_until_heard()

    assert sorted(bench.inbox.texts) == ["after", "before", *(f"between {number}" for number in range(5))]
    assert on_record <= len(bench.inbox.rejected) <= 2 * on_record
    assert all(row.reason for row in bench.inbox.rejected)


@pytest.mark.parametrize("length", [3_900, 30_000])
@everywhere
async def test_a_long_message_is_heard_in_full(bench: Bench, length: int) -> None:
    text = ("字" * 19 + " ") * (length // 20) + "end"
    async with bench.listening(bench.build()):
        bench.say(bench.direct(), text)
        (message,) = await bench.inbox.wait_for(1)

    assert message.text == text
