"""Schedules that fire too often are refused; how often is the configuration's to say."""

from datetime import UTC, datetime, timedelta

import pytest

from scheduler.schedule import (
    Interval,
    Once,
    Schedule,
    ScheduleError,
    parse_cron,
    require_floor,
    shortest_gap,
)

NOW = datetime(2026, 11, 2, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("schedule", "minutes"),
    [
        (parse_cron("* * * * *"), 1),
        (parse_cron("0,5 8 1 * *"), 5),
        (parse_cron("59 23 * * *"), 24 * 60),
        (parse_cron("0,59 0,23 * * *"), 1),
        (parse_cron("0 8 * * 1-5"), 24 * 60),
        (parse_cron("0 8 29 2 *"), 1461 * 24 * 60),
        (Interval(90 * MINUTE, NOW), 90),
        (Once(NOW), None),
    ],
)
def test_the_shortest_gap_is_found(schedule: Schedule, minutes: int | None) -> None:
    assert shortest_gap(schedule, NOW) == (None if minutes is None else minutes * MINUTE)


def test_more_often_than_the_floor_is_refused_in_words() -> None:
    with pytest.raises(ScheduleError, match=r"every 10 minutes, which is too often.*every 15 minutes"):
        require_floor(parse_cron("*/10 * * * *"), NOW, 15 * MINUTE)
    require_floor(parse_cron("*/15 * * * *"), NOW, 15 * MINUTE)


def test_a_day_shortened_by_a_clock_change_is_still_a_day() -> None:
    require_floor(parse_cron("0 8 * * *"), datetime(2026, 3, 7, tzinfo=UTC), timedelta(days=1))
