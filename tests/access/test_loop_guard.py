"""Two programs that answer each other are noticed; a person who writes much is not taken for one."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.loop_guard import AUTOMATIC_MAX, LoopGuard, Verdict, is_loop, trace
from bot.store.tables import Inbound
from channels.messages import Attachment, Sender
from tests.access.conftest import OWNER
from tests.bot.messages import DIRECT
from tests.clock import ManualClock
from tests.emulators.openai import OpenAIEmulator
from tests.engine.ledger import rows
from tests.engine.people import Person
from tests.hart import Site, hart_on

NOW = ManualClock()()


def said(text: str, number: int, **more):
    return replace(DIRECT, text=text, dedupe_key=f"k{number}", **more)


def traces(texts, every=timedelta(seconds=1), **more):
    return [trace(said(text, number, **more), NOW + every * number) for number, text in enumerate(texts)]


class TestWhatALoopIs:
    def test_more_than_twenty_equal_messages_within_a_minute(self) -> None:
        assert AUTOMATIC_MAX == 20
        assert not is_loop(traces(["pong"] * 20), NOW + timedelta(seconds=20))
        assert is_loop(traces(["pong"] * 21), NOW + timedelta(seconds=21))

    def test_a_few_sentences_in_turn_case_and_blanks_apart(self) -> None:
        assert is_loop(
            traces(["I am sorry", "Who are you?", "i am  SORRY\n"] * 7), NOW + timedelta(seconds=21)
        )

    @pytest.mark.parametrize("count", [21, 200])
    def test_many_different_messages_are_none_however_fast(self, count: int) -> None:
        assert not is_loop(traces([f"line {number}" for number in range(count)], timedelta()), NOW)

    def test_whatever_a_program_says_of_itself_counts(self) -> None:
        texts = [f"line {number}" for number in range(21)]
        bot = Sender("9", is_bot=True)
        assert is_loop(traces(texts, sender=bot), NOW + timedelta(seconds=21))

    def test_what_is_older_than_a_minute_does_not_count(self) -> None:
        slow = traces(["pong"] * 40, timedelta(seconds=3))
        assert not is_loop(slow, NOW + timedelta(seconds=117))

    def test_a_redelivery_is_not_a_second_message(self) -> None:
        again = [trace(said("hello", 1), NOW) for _ in range(50)]
        assert not is_loop(again, NOW)

    def test_different_files_without_text_are_not_the_same(self) -> None:
        files = [
            trace(said("", number, attachments=(Attachment(f"photo-{number}.jpg", "r"),)), NOW)
            for number in range(30)
        ]
        assert not is_loop(files, NOW)


class TestTheGuard:
    def test_says_so_once_and_holds_for_a_minute(self) -> None:
        guard, clock = LoopGuard(), ManualClock()
        verdicts = []
        for number in range(30):
            verdicts.append(guard.judge("chat", said("pong", number), clock()))
            clock.move(timedelta(seconds=1))
        assert verdicts == [Verdict.PASS] * 20 + [Verdict.TRIPPED] + [Verdict.HELD] * 9
        clock.move(timedelta(seconds=49))
        assert guard.judge("chat", said("pong", 99), clock()) is Verdict.HELD
        clock.move(timedelta(seconds=1))
        assert guard.judge("chat", said("pong", 100), clock()) is Verdict.PASS

    def test_holds_one_sender_in_one_chat_and_nobody_else(self) -> None:
        guard = LoopGuard()
        for number in range(25):
            guard.judge("chat", said("pong", number), NOW)
        assert guard.judge("chat", said("other", 99), NOW) is Verdict.HELD
        assert guard.judge("chat", said("pong", 99, sender=Sender("8")), NOW) is Verdict.PASS
        assert guard.judge("elsewhere", said("pong", 99), NOW) is Verdict.PASS


async def test_a_loop_is_cut_with_one_word_in_the_chat_and_one_line_in_the_log(
    sqlite_house: Site, openai: OpenAIEmulator, owner: Person, clock: ManualClock, caplog
) -> None:
    async with hart_on(sqlite_house, clock) as hart:
        for number in range(20):
            owner.says("I did not understand that.")
            await owner.hears(number + 1)
        for _ in range(5):
            owner.says("I did not understand that.")
        await owner.hears(21)
        await owner.telegram.wait_until_heard()
        clock.move(timedelta(seconds=61))
        owner.says("I am a person.")
        heard = await owner.hears(22)
        denied = [row for row in await rows(hart, Inbound) if row.kind == "denied"]
    assert len(openai.requests) == 21
    assert "take you for a program" in heard[20]
    assert heard[21] == "answer to: I am a person."
    lines = [record.getMessage() for record in caplog.records if "repeats themselves" in record.getMessage()]
    assert len(lines) == 1
    assert lines[0].startswith(f"telegram/main: sender {OWNER} repeats themselves in chat {OWNER} ")
    assert [(row.note, row.body) for row in denied] == [("loop", "")]
