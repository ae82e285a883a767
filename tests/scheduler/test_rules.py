"""The pure rules beside schedules: hours, silence, heartbeats, failures."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from scheduler.errors import ScheduleError
from scheduler.health import Health, after_failure, after_success, retry_delay
from scheduler.heartbeat import is_empty
from scheduler.hours import parse_hours
from scheduler.silence import is_silent, said_beside

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 2, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("hours", "inside", "outside"),
    [
        ("08:00-22:00", ["08:00", "12:00", "21:59"], ["07:59", "22:00", "03:00"]),
        ("22:00-06:00", ["22:00", "23:59", "00:00", "05:59"], ["06:00", "12:00", "21:59"]),
        ("00:00-24:00", ["00:00", "23:59"], []),
    ],
)
def test_hours_hold_from_their_start_to_before_their_end(
    hours: str, inside: list[str], outside: list[str]
) -> None:
    window = parse_hours(hours)
    assert str(window) == hours
    for expected, times in ((True, inside), (False, outside)):
        for time in times:
            moment = datetime.fromisoformat(f"2026-11-02T{time}").replace(tzinfo=BERLIN)
            assert window.hold(moment.astimezone(UTC), BERLIN) is expected, time


def test_hours_follow_the_wall_clock_when_it_changes() -> None:
    window = parse_hours("02:00-03:00")
    day = datetime(2026, 10, 25, tzinfo=UTC)
    held = [minute for minute in range(240) if window.hold(day + timedelta(minutes=minute), BERLIN)]
    assert held == list(range(120)), "the doubled hour is inside both times"
    spring = datetime(2026, 3, 29, tzinfo=UTC)
    assert not any(window.hold(spring + timedelta(minutes=minute), BERLIN) for minute in range(240))


@pytest.mark.parametrize(
    "text", ["", "8-22", "08:00", "08:60-09:00", "24:00-08:00", "08:00-25:00", "08:00-08:00"]
)
def test_faulty_hours_are_refused_in_words(text: str) -> None:
    with pytest.raises(ScheduleError):
        parse_hours(text)


@pytest.mark.parametrize(
    "answer",
    [
        "[SILENT]",
        " [silent] ",
        "**[SILENT]**",
        "`[SILENT]`.",
        "[ Silent ]",
        "NO_REPLY",
        "HEARTBEAT_OK",
        "[HEARTBEAT OK]",
        "[SILENT]\n\nNothing new since yesterday.",
        "All is quiet. [SILENT]",
        "> [SILENT]",
        "[SILENT] [SILENT]",
        "x" * 300 + " [SILENT]",
    ],
)
def test_an_answer_with_the_marker_is_for_nobody(answer: str) -> None:
    assert is_silent(answer)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Three builds failed.", "Three builds failed."),
        ("The marker [SILENT] is explained in the manual.", None),
        ("Be silent.", None),
        ("", ""),
        ("x" * 301 + " [SILENT]", "x" * 301),
    ],
)
def test_an_answer_that_says_something_is_posted(answer: str, said: str | None) -> None:
    assert said_beside(answer) == (answer if said is None else said)


@pytest.mark.parametrize(
    ("text", "empty"),
    [
        ("", True),
        ("# Heartbeat\n\n## Tasks\n", True),
        ("<!-- write what to look after here -->\n- \n- [ ]\n* [x] done already\n---\n", True),
        ("<!-- never closed", True),
        ("- [ ] watch the build", False),
        ("Look at the queue.", False),
        ("# Tasks\n- the mail", False),
        ("-5 degrees outside: tell me", False),
    ],
)
def test_a_list_with_nothing_to_do_is_empty(text: str, empty: bool) -> None:
    assert is_empty(text) is empty


def test_a_run_is_tried_again_by_the_ladder() -> None:
    assert [retry_delay(tries, 5) for tries in range(1, 8)] == [
        *(timedelta(seconds=seconds) for seconds in (30, 60, 300, 900, 3600)),
        None,
        None,
    ]
    assert retry_delay(1, 0) is None


def test_the_owner_hears_after_two_failures_then_once_an_hour_and_of_the_end() -> None:
    health, told = Health(), []
    for number in range(1, 11):
        outcome = after_failure(health, NOW + timedelta(minutes=20 * number), given_up=False)
        health = outcome.health
        told.append("off" if outcome.disable else "alert" if outcome.alert else "")
    assert told == ["", "alert", "", "", "alert", "", "", "alert", "", "off"]


def test_an_occurrence_that_is_given_up_is_told_at_once() -> None:
    assert after_failure(Health(), NOW, given_up=True).alert


def test_recovery_is_told_once_and_only_after_an_alert() -> None:
    assert not after_success(Health(1)).recovered
    outcome = after_success(Health(4, NOW))
    assert outcome.recovered
    assert outcome.health == Health()
