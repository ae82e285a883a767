"""What Hart says is seen whole, in its place, within the platform's limits."""

import pytest

from channels.errors import TransientSendError
from channels.messages import Address, Button, OutboundMessage, OutboundText
from channels.views import Phase, RunView
from tests.contract.bench import Place, PlatformBench
from tests.contract.benches import connected, heard_from_platforms

FAMILY = "👩‍👩‍👧‍👦"
MARK = "(You may have got this already: the connection broke while it was being sent.)\n\n"
ID = "0123456789abcdef" * 4
"""As long as the id of a button may be."""


def to(bench: PlatformBench, place: Place, text: str, key: str = "k", **more: object) -> OutboundMessage:
    """A text for a place that nobody has asked for."""
    channel = bench.build()
    address = Address(channel.name, channel.account, place.chat, place.thread)
    return OutboundMessage(address, key, OutboundText(text), **more)  # type: ignore[arg-type]


@connected
async def test_an_answer_lands_where_it_was_asked_for(bench: PlatformBench) -> None:
    channel = bench.build()
    places = [bench.thread(), bench.direct(), bench.thread(), bench.another_chat()]
    async with bench.listening(channel):
        for number, place in enumerate(places[:3]):
            bench.say(place, f"question {number}", mention=True)
            messages = await bench.inbox.wait_for(number + 1)
            asked = messages[number]
            await channel.send(
                OutboundMessage(
                    asked.address, f"k{number}", OutboundText(f"answer {number}"), reply_to=asked.message_id
                )
            )
        await channel.send(to(bench, places[3], "unasked"))

    seen = [(message.place, message.text) for message in bench.seen()]
    assert seen == [
        *((place, f"answer {number}") for number, place in enumerate(places[:3])),
        (places[3], "unasked"),
    ]


@connected
async def test_a_receipt_names_the_message_that_people_see(bench: PlatformBench) -> None:
    channel, home = bench.build(), bench.direct()
    receipts = [await channel.send(to(bench, home, f"{number}", f"k{number}")) for number in range(3)]

    assert [receipt.message_id for receipt in receipts] == [message.id for message in bench.seen()]


@pytest.mark.parametrize(
    "unit",
    ["Words, and more of them. ", "字", FAMILY, "x", "Line\n\n", "e\u0301", "السلام عليكم ", '"quoted" '],
    ids=["words", "cjk", "family", "unbroken", "paragraphs", "combining", "rtl", "quotes"],
)
@connected
async def test_a_long_answer_is_cut_to_fit_and_joins_to_the_same(bench: PlatformBench, unit: str) -> None:
    channel, home = bench.build(), bench.direct()
    text = unit * (70_000 // len(unit.encode()))
    for number, piece in enumerate(channel.split(text)):
        await channel.send(to(bench, home, piece, f"k{number}", possible_repeat=True))

    seen = bench.seen()
    shown = [message.text.removeprefix(MARK) for message in seen]
    assert len(seen) > 1
    assert all(bench.measure(message) <= bench.message_limit for message in seen)
    assert "".join("".join(shown).split()) == "".join(text.split())
    if unit in (FAMILY, "e\u0301"):
        assert sum(piece.count(unit) for piece in shown) == text.count(unit)


@connected
async def test_code_that_is_never_closed_is_code_in_every_message(bench: PlatformBench) -> None:
    channel, home = bench.build(), bench.direct()
    code = [f"call_{number}('世界')" for number in range(3000)]
    for number, piece in enumerate(channel.split("Look:\n\n```py\n" + "\n".join(code))):
        await channel.send(to(bench, home, piece, f"k{number}"))

    seen = bench.seen()
    shown = [line for message in seen for line in message.text.split("\n") if line.startswith("call_")]
    assert len(seen) > 1
    assert shown == code
    assert all(message.text.count("```") in (0, 2) for message in seen[:-1])


@connected
async def test_blank_text_is_nothing_to_post(bench: PlatformBench) -> None:
    channel = bench.build()

    assert channel.split("") == []
    assert channel.split(" \n" * 50_000) == []


@connected
async def test_halves_of_characters_are_replaced_rather_than_refused(bench: PlatformBench) -> None:
    await bench.build().send(to(bench, bench.direct(), "half \ud83d of an emoji"))

    assert [message.text for message in bench.seen()] == ["half \ufffd of an emoji"]


@connected
async def test_a_rate_limit_is_passed_on_to_the_second_and_other_chats_go_on(bench: PlatformBench) -> None:
    channel, home, other = bench.build(), bench.direct(), bench.another_chat()
    bench.limit_posts(23)
    with pytest.raises(TransientSendError) as caught:
        await channel.send(to(bench, home, "later", "k1"))
    await channel.send(to(bench, other, "now", "k2"))
    await channel.send(to(bench, home, "later", "k1"))

    assert caught.value.retry_after == 23
    assert bench.pauses == []
    assert [(message.place, message.text) for message in bench.seen()] == [(other, "now"), (home, "later")]


@heard_from_platforms
async def test_a_press_of_a_button_comes_back_with_its_id_and_place(bench: PlatformBench) -> None:
    channel, thread = bench.build(), bench.thread()
    async with bench.listening(channel):
        bench.say(thread, "which?", mention=True)
        (asked,) = await bench.inbox.wait_for(1)
        content = OutboundText("Which one?", (Button(ID, "This 这个"), Button("no", "That")))
        receipt = await channel.send(OutboundMessage(asked.address, "k", content))
        (shown,) = bench.seen()
        bench.press(shown, "This 这个")
        await bench.inbox.wait_for(2)
        bench.press(shown, "That")
        _, first, second = await bench.inbox.wait_for(3)
        await bench.wait_until_heard()

    assert shown.buttons == ("This 这个", "That")
    assert (shown.place, shown.text) == (thread, "Which one?")
    assert (first.action, second.action) == (ID, "no")
    for press in (first, second):
        assert (press.text, press.message_id) == ("", receipt.message_id)
        assert (press.address, press.chat_kind) == (asked.address, asked.chat_kind)
        assert press.sender.id == asked.sender.id


@heard_from_platforms
async def test_a_press_delivered_again_is_one(bench: PlatformBench) -> None:
    channel, home = bench.build(), bench.direct()
    async with bench.listening(channel):
        message = to(bench, home, "")
        content = OutboundText("Sure?", (Button(ID, "Yes"),))
        await channel.send(OutboundMessage(message.address, "k", content))
        bench.press(bench.seen()[0], "Yes")
        await bench.inbox.wait_for(1)
        await bench.wait_until_heard()
        bench.deliver_again()
        await bench.wait_until_heard()

    assert [press.action for press in bench.inbox.messages] == [ID]


@connected
async def test_work_shows_from_its_start_to_its_answer_and_clutters_nothing(bench: PlatformBench) -> None:
    channel, home = bench.build(), bench.direct()
    async with bench.listening(channel):
        question = bench.say(home, "?")
        (asked,) = await bench.inbox.wait_for(1)
        for phase in (Phase.THINKING, Phase.WORKING, Phase.ANSWERING):
            await channel.show(asked.address, RunView("r1", question, phase, "so far"))
        assert bench.is_busy(home, question)
        assert len(bench.seen()) <= 1, "progress is one message that is edited, or none"
        await channel.show(asked.address, RunView("r1", question, Phase.DONE, "the answer"))
        await channel.send(OutboundMessage(asked.address, "k", OutboundText("the answer")))

    assert not bench.is_busy(home, question)
    assert [message.text for message in bench.seen()].count("the answer") == 1


@connected
async def test_progress_that_cannot_be_shown_disturbs_nothing(bench: PlatformBench) -> None:
    channel, home = bench.build(), bench.direct()
    question = bench.say(home, "?")
    address = to(bench, home, "").address
    async with bench.offline():
        for phase in (Phase.THINKING, Phase.DONE):
            await channel.show(address, RunView("r1", question, phase))
    for reply_to in (None, "../x", "no such message"):
        await channel.show(address, RunView("r2", reply_to))
        await channel.show(address, RunView("r2", reply_to, Phase.DONE))

    assert bench.seen() == []
