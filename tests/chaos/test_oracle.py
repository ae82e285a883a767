"""The oracle finds what it should, and only that."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.chaos.oracle import (
    Disturbance,
    Line,
    Observed,
    Part,
    Posted,
    Repeats,
    Rule,
    Said,
    Speaker,
    repeats,
    violations,
)
from tests.chaos.script import SCRIPT, answer, parts, turn

A, B = "chat 1 message 0", "chat 1 message 1 file"
C = "chat 2 message 0"


def post(chat: int, part: Part, at: float, *, marked: bool = False) -> Posted:
    return Posted(chat, part, marked, at)


FIRST, (SECOND, FILE), OTHER = parts(A)[0], parts(B), parts(C)[0]
POSTS = (post(1, FIRST, 1.0), post(2, OTHER, 2.0), post(1, SECOND, 3.0), post(1, FILE, 4.0))
WHOLE = [*turn(A), *turn(B)]
SOUND = Observed(
    said=(Said(1, A), Said(2, C), Said(1, B)),
    posted=POSTS,
    requests=(WHOLE[:1], WHOLE[:3], WHOLE[:5], WHOLE[:7], turn(C)[:1]),
    histories=(WHOLE, turn(C)),
    disturbances=(),
)


def broken(seen: Observed) -> set[Rule]:
    return {violation.rule for violation in violations(seen, SCRIPT)}


def test_a_sound_course_has_no_violation() -> None:
    assert violations(SOUND, SCRIPT) == []
    assert repeats(SOUND) == Repeats(0, 0, 0)


def test_no_message_at_all_is_sound() -> None:
    assert violations(Observed((), (), (), (), ()), SCRIPT) == []


@pytest.mark.parametrize("missing", range(4))
def test_a_missing_part_of_an_answer_is_found(missing: int) -> None:
    posts = (*POSTS[:missing], *POSTS[missing + 1 :])
    assert broken(replace(SOUND, posted=posts)) == {Rule.ANSWERED}


def test_answers_in_a_wrong_order_are_found() -> None:
    posts = (post(1, SECOND, 0.5), post(1, FILE, 0.6), *POSTS[:2])
    assert broken(replace(SOUND, posted=posts)) == {Rule.ORDER}


def test_chats_may_overtake_each_other() -> None:
    assert broken(replace(SOUND, posted=(POSTS[1], POSTS[0], *POSTS[2:]))) == set()


def test_a_post_that_nobody_asked_for_is_found() -> None:
    sorry = post(1, Part("I could not get this done"), 5.0)
    assert broken(replace(SOUND, posted=(*POSTS, sorry))) == {Rule.KNOWN}


def test_an_answer_in_another_chat_is_found() -> None:
    assert broken(replace(SOUND, posted=(*POSTS, post(2, FIRST, 5.0)))) == {Rule.KNOWN}


def test_a_file_with_other_content_is_found() -> None:
    posts = (*POSTS[:3], post(1, replace(FILE, text="torn"), 4.0))
    assert broken(replace(SOUND, posted=posts)) == {Rule.ANSWERED, Rule.KNOWN}


CRASH = (Disturbance(4.5, 4.5),)


def test_a_marked_repeat_after_a_crash_is_no_violation() -> None:
    seen = replace(SOUND, posted=(*POSTS, post(1, FILE, 5.0, marked=True)), disturbances=CRASH)
    assert broken(seen) == set()
    assert repeats(seen) == Repeats(1, 0, 0)


def test_a_mark_on_the_only_copy_is_no_violation() -> None:
    posts = (*POSTS[:3], post(1, FILE, 4.0, marked=True))
    assert broken(replace(SOUND, posted=posts)) == set()


def test_a_repeat_without_a_mark_is_found() -> None:
    seen = replace(SOUND, posted=(*POSTS, post(1, FILE, 5.0)), disturbances=CRASH)
    assert broken(seen) == {Rule.MARKED}
    assert repeats(seen) == Repeats(0, 1, 0)


@pytest.mark.parametrize("crash", [(), (Disturbance(3.5, 3.9),), (Disturbance(5.5, 6.0),)])
def test_a_repeat_without_a_crash_before_it_is_found(crash: Sequence[Disturbance]) -> None:
    seen = replace(SOUND, posted=(*POSTS, post(1, FILE, 5.0, marked=True)), disturbances=crash)
    assert broken(seen) == {Rule.CAUSED}


def test_each_of_several_repeats_needs_a_crash_of_its_own() -> None:
    more = (post(1, FILE, 5.0, marked=True), post(1, FILE, 6.0, marked=True))
    assert broken(replace(SOUND, posted=(*POSTS, *more), disturbances=CRASH)) == {Rule.CAUSED}


def test_a_repeat_behind_a_later_answer_is_out_of_order() -> None:
    posts = (*POSTS, post(1, FIRST, 5.0, marked=True))
    assert broken(replace(SOUND, posted=posts, disturbances=CRASH)) == {Rule.ORDER}


HUMAN = Line(Speaker.HUMAN, A)

DAMAGED: dict[str, Sequence[Line]] = {
    "empty": [],
    "the person twice": [HUMAN, *WHOLE],
    "a turn without its answer": [HUMAN, *turn(B)],
    "an answer twice": [HUMAN, Line(Speaker.ANSWER, answer(A)), *WHOLE[1:]],
    "a call without its result": [*WHOLE[:4], *WHOLE[5:]],
    "a result that says interrupted": [*WHOLE[:4], Line(Speaker.RESULT, "interrupted"), *WHOLE[5:]],
    "turns in a wrong order": [*turn(B), *turn(A)],
    "the answer of another": [HUMAN, Line(Speaker.ANSWER, answer(C)), *turn(B)],
    "cut short": WHOLE[:-1],
    "the last turn lost": turn(A),
}


@pytest.mark.parametrize("history", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_history_is_found(history: Sequence[Line]) -> None:
    assert broken(replace(SOUND, histories=(history, turn(C)))) == {Rule.HISTORY}


def test_a_history_that_is_gone_is_found() -> None:
    assert broken(replace(SOUND, histories=(WHOLE,))) == {Rule.HISTORY}


def test_a_second_thread_for_one_chat_is_found() -> None:
    assert broken(replace(SOUND, histories=(WHOLE, WHOLE, turn(C)))) == {Rule.HISTORY}


def test_the_same_request_again_is_counted_and_is_no_violation() -> None:
    seen = replace(SOUND, requests=(*SOUND.requests, WHOLE[:3]))
    assert broken(seen) == set()
    assert repeats(seen) == Repeats(0, 0, 1)


WRONG: dict[str, Sequence[Line]] = {
    "empty": [],
    "nothing for the model to say": WHOLE[:2],
    "the whole conversation again": WHOLE,
    "two people's lines in a row": [HUMAN, WHOLE[2]],
    "a call without its result": [*WHOLE[:4], WHOLE[5], WHOLE[6]],
    "an earlier turn left out": turn(B)[:1],
}


@pytest.mark.parametrize("request_lines", WRONG.values(), ids=WRONG)
def test_a_request_that_is_no_sound_prefix_is_found(request_lines: Sequence[Line]) -> None:
    assert broken(replace(SOUND, requests=(request_lines,))) == {Rule.ALTERNATING}
