"""A single moment: read, fired once, and never for the past."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from scheduler.schedule import Due, Once, ScheduleError, describe, due, next_fires, parse_once

NOW = datetime(2026, 11, 2, 9, 0, 30, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("in 20m", "2026-11-02T09:20:30"),
        ("20m", "2026-11-02T09:20:30"),
        ("1h30m", "2026-11-02T10:30:30"),
        ("2026-12-24 18:00", "2026-12-24T17:00:00"),
        ("2026-12-24T18:00+02:00", "2026-12-24T16:00:00"),
        ("2026-12-24T18:00Z", "2026-12-24T18:00:00"),
        ("2027-03-28 02:30", "2027-03-28T01:00:00"),
        ("2027-10-31 02:30", "2027-10-31T00:30:00"),
    ],
)
def test_a_moment_is_read_in_the_zone_of_whoever_asks(text: str, at: str) -> None:
    assert parse_once(text, BERLIN, NOW) == Once(datetime.fromisoformat(at).replace(tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2026-11-02 10:00", "in the past"),
        ("1999-01-01", "in the past"),
        ("tomorrow", "Cannot read the time"),
        ("in ages", "Cannot read the interval"),
        ("", "Cannot read the time"),
        ("0001-01-01T00:00+23:00", "Cannot read the time"),
        ("9" * 5000, "Cannot read the time"),
    ],
)
def test_a_moment_that_is_over_or_unreadable_is_refused_in_words(text: str, said: str) -> None:
    with pytest.raises(ScheduleError, match=said) as caught:
        parse_once(text, BERLIN, NOW)
    assert len(str(caught.value)) < 200


def test_it_fires_at_its_moment_alone_and_late_if_nobody_was_there() -> None:
    once = Once(NOW + timedelta(hours=1))
    assert next_fires(once, BERLIN, NOW, 3) == [once.at]
    assert next_fires(once, BERLIN, once.at, 3) == []
    assert due(once, BERLIN, NOW, NOW + timedelta(days=3)) == Due((once.at,), 0)
    assert due(once, BERLIN, once.at, NOW + timedelta(days=3)) == Due((), 0)


def test_it_is_described_in_words() -> None:
    once = parse_once("2026-12-24 18:00", BERLIN, NOW)
    assert describe(once, BERLIN) == "Once, on Thursday, 2026-12-24 at 18:00 (Europe/Berlin)"


def test_a_moment_without_zone_cannot_be_made() -> None:
    with pytest.raises(ScheduleError):
        Once(NOW.replace(tzinfo=None))
