"""Intervals keep their beat, whatever restarts."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.schedule import Interval, ScheduleError, describe, due, next_fires, parse_every, parse_zone

ANCHOR = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30m", 1800),
        ("90s", 90),
        ("2h", 7200),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("2 d", 172_800),
        ("1w", 604_800),
        ("Every 15m", 900),
        (" 1d ", 86_400),
    ],
)
def test_an_interval_is_read_from_short_words(text: str, seconds: int) -> None:
    assert parse_every(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text",
    ["", "every", "5", "m", "1m1h", "-5m", "0s", "1.5h", "1e3m", "٣m", "367d", "999999w", "9" * 5000 + "m"],
)
def test_a_faulty_interval_is_refused_in_words(text: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        parse_every(text)
    assert len(str(caught.value)) < 200


def test_a_daily_interval_keeps_its_hour_when_the_process_restarts_every_six_hours() -> None:
    fires = []
    moment = ANCHOR
    for _ in range(4 * 5):
        # Each life of the process builds the schedule anew and sees six hours of it.
        schedule = Interval(timedelta(hours=24), ANCHOR)
        fires += due(schedule, BERLIN, moment, moment + timedelta(hours=6)).times
        moment += timedelta(hours=6)
    assert fires == [ANCHOR + timedelta(days=day) for day in range(1, 6)]


@settings(deadline=None)
@given(
    every=st.integers(1, 100_000),
    start=st.integers(-500_000, 500_000),
    length=st.integers(0, 20_000),
    limit=st.integers(1, 20),
)
def test_due_intervals_are_the_multiples_in_the_span(every: int, start: int, length: int, limit: int) -> None:
    after = ANCHOR + timedelta(seconds=start)
    until = after + timedelta(seconds=length)
    first = max(0, -(-(start + 1) // every))
    expected = [ANCHOR + timedelta(seconds=k * every) for k in range(first, first + length // every + 2)]
    expected = [fire for fire in expected if after < fire <= until]
    schedule = Interval(timedelta(seconds=every), ANCHOR)
    found = due(schedule, BERLIN, after, until, limit)
    assert list(found.times) == expected[-limit:]
    assert found.left_out == max(0, len(expected) - limit)
    assert next_fires(schedule, BERLIN, after, len(expected)) == expected


def test_nothing_fires_before_the_anchor() -> None:
    schedule = Interval(timedelta(hours=1), ANCHOR)
    assert next_fires(schedule, BERLIN, ANCHOR - timedelta(days=3), 1) == [ANCHOR]


def test_the_anchor_is_kept_in_utc_to_the_second() -> None:
    local = datetime(2026, 11, 2, 10, 0, 0, 250_000, tzinfo=timezone(timedelta(hours=1)))
    assert Interval(timedelta(hours=1), local) == Interval(timedelta(hours=1), ANCHOR)


@pytest.mark.parametrize(
    ("every", "anchor"),
    [
        (timedelta(0), ANCHOR),
        (timedelta(milliseconds=1500), ANCHOR),
        (timedelta(days=400), ANCHOR),
        (timedelta(hours=1), ANCHOR.replace(tzinfo=None)),
    ],
)
def test_a_meaningless_interval_cannot_be_made(every: timedelta, anchor: datetime) -> None:
    with pytest.raises(ScheduleError):
        Interval(every, anchor)


def test_an_interval_is_described_in_words() -> None:
    schedule = Interval(timedelta(hours=1, minutes=30), ANCHOR)
    assert (
        describe(schedule, BERLIN) == "Every 1 hour 30 minutes, counted from 2026-11-02 10:00 (Europe/Berlin)"
    )


@pytest.mark.parametrize(
    "name", ["", "Mars/Base", "America", "../../etc/passwd", "/etc/localtime", "\0", "a" * 5000]
)
def test_an_unknown_zone_is_refused_in_words(name: str) -> None:
    with pytest.raises(ScheduleError, match="Unknown time zone"):
        parse_zone(name)
