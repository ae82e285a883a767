"""What a cron expression means, checked against a minute-walking oracle and against croniter."""

from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scheduler.cron import Cron
from scheduler.schedule import ScheduleError, describe, due, next_fires, parse_cron
from tests.scheduler.minute_oracle import oracle_fires

NEW_YORK = ZoneInfo("America/New_York")
BERLIN = ZoneInfo("Europe/Berlin")
ZONE_UTC = ZoneInfo("UTC")


def _field(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    # A span of one value is left out: cron, cronsim and croniter disagree on 5-5 and 5-5/2.
    spans = st.lists(number, min_size=2, max_size=2, unique=True).map(
        lambda ends: "{}-{}".format(*sorted(ends))
    )
    steps = st.integers(1, 20)
    stepped = st.builds("{}/{}".format, st.one_of(st.just("*"), spans), steps)
    term = st.one_of(number.map(str), spans, stepped)
    return st.one_of(st.just("*"), term, st.lists(number.map(str), min_size=1, max_size=4).map(",".join))


EXPRESSIONS = st.tuples(
    _field(0, 59),
    _field(0, 23),
    st.one_of(st.just("*"), st.just("*"), _field(1, 31)),
    st.one_of(st.just("*"), st.just("*"), _field(1, 12)),
    st.one_of(st.just("*"), st.just("*"), _field(0, 7)),
).map(" ".join)

# Around clock changes: by an hour, by half an hour, at midnight, backward over midnight, a skipped day.
EDGES = [
    ("America/New_York", "2026-03-08"),
    ("America/New_York", "2026-11-01"),
    ("Europe/Berlin", "2026-03-29"),
    ("Europe/Berlin", "2026-10-25"),
    ("Australia/Lord_Howe", "2026-04-05"),
    ("Australia/Lord_Howe", "2026-10-04"),
    ("Africa/Cairo", "2026-04-24"),
    ("Africa/Cairo", "2026-10-29"),
    ("America/Havana", "2026-03-08"),
    ("America/Havana", "2026-11-01"),
    ("Atlantic/Azores", "2026-10-25"),
    ("Africa/Casablanca", "2026-02-15"),
    ("Pacific/Apia", "2011-12-30"),
    ("Asia/Kathmandu", "2026-06-15"),
    ("UTC", "2026-12-31"),
]


@settings(max_examples=120, deadline=None)
@given(
    expression=EXPRESSIONS,
    edge=st.sampled_from(EDGES),
    back=st.integers(0, 40 * 3600),
    hours=st.integers(1, 60),
)
@example("30 2 * * *", EDGES[0], 40 * 3600, 60)
@example("*/10 2 * * *", EDGES[4], 40 * 3600, 60)
@example("0,30 0,23 * * *", EDGES[7], 40 * 3600, 60)
@example("15 0 * * *", EDGES[8], 40 * 3600, 60)
@example("0 9 30,31 * *", EDGES[12], 40 * 3600, 60)
def test_fires_are_those_a_walk_over_every_minute_finds(
    expression: str, edge: tuple[str, str], back: int, hours: int
) -> None:
    zone = ZoneInfo(edge[0])
    after = (
        datetime.fromisoformat(edge[1]).replace(tzinfo=UTC) + timedelta(hours=20) - timedelta(seconds=back)
    )
    until = after + timedelta(hours=hours)
    try:
        cron = parse_cron(expression)
    except ScheduleError:
        # Only an impossible date may be refused, and then the oracle finds nothing either.
        assert oracle_fires(expression, zone, after, until) == []
        return
    expected = oracle_fires(expression, zone, after, until)
    assert next_fires(cron, zone, after, len(expected)) == expected
    following = next_fires(cron, zone, after, len(expected) + 1)[len(expected) :]
    assert all(fire > until for fire in following)
    found = due(cron, zone, after, until, limit=7)
    assert list(found.times) == expected[-7:]
    assert found.left_out == max(0, len(expected) - 7)


@settings(max_examples=150, deadline=None)
@given(
    minute=_field(0, 59),
    hour=_field(0, 23),
    month=_field(1, 12),
    days=st.one_of(
        st.tuples(_field(1, 28), st.just("*")),
        st.tuples(st.just("*"), _field(0, 6)),
    ),
    seconds=st.integers(0, 6 * 365 * 86_400),
)
def test_fires_agree_with_croniter_where_no_clock_changes(
    minute: str, hour: str, month: str, days: tuple[str, str], seconds: int
) -> None:
    expression = f"{minute} {hour} {days[0]} {month} {days[1]}"
    after = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    expected = list(islice(croniter(expression, after).all_next(datetime), 6))
    assert next_fires(parse_cron(expression), ZONE_UTC, after, 6) == expected


@pytest.mark.parametrize(
    ("weekdays", "days"),
    [
        ("0", "Sun"),
        ("7", "Sun"),
        ("SUN", "Sun"),
        ("sun", "Sun"),
        ("1", "Mon"),
        ("1-5", "Mon Tue Wed Thu Fri"),
        ("MON-FRI", "Mon Tue Wed Thu Fri"),
        ("0-6", "Mon Tue Wed Thu Fri Sat Sun"),
        ("1-7", "Mon Tue Wed Thu Fri Sat Sun"),
        ("0-5", "Mon Tue Wed Thu Fri Sun"),
        ("5-7", "Fri Sat Sun"),
        ("*/2", "Tue Thu Sat Sun"),
        ("2,4", "Tue Thu"),
    ],
)
def test_weekdays_are_numbered_from_sunday(weekdays: str, days: str) -> None:
    monday = datetime(2026, 11, 2, tzinfo=UTC)
    found = due(parse_cron(f"0 9 * * {weekdays}"), ZONE_UTC, monday, monday + timedelta(days=7)).times
    assert " ".join(f"{fire:%a}" for fire in found) == days


def test_day_of_month_or_day_of_week_is_enough_when_both_are_given() -> None:
    november = datetime(2026, 11, 1, tzinfo=UTC)
    found = due(parse_cron("0 0 13 * 5"), ZONE_UTC, november, november + timedelta(days=30)).times
    assert [fire.day for fire in found] == [6, 13, 20, 27]


@pytest.mark.parametrize(
    ("shorthand", "same"),
    [
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        ("@Annually", "0 0 1 1 *"),
    ],
)
def test_shorthands_stand_for_five_fields(shorthand: str, same: str) -> None:
    assert parse_cron(shorthand) == Cron(same)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "0 fields"),
        ("* * * *", "4 fields"),
        ("0 * * * * *", "6 fields"),
        ("60 * * * *", "bad minute"),
        ("* 24 * * *", "bad hour"),
        ("* * 0 * *", "bad day of month"),
        ("* * * 13 *", "bad month"),
        ("* * * * 8", "bad day of week"),
        ("0 9 * * SAT-SUN", "bad day of week"),
        ("*/0 * * * *", "bad minute"),
        ("1,,2 * * * *", "bad minute"),
        ("٣ * * * *", "ASCII"),
        ("0 9 * * ſUN", "ASCII"),
        ("0 9 31 2 *", "bad day of month"),
        ("0 0 */31 2 MON#5", "never fires"),
        ("@reboot", "Unknown shorthand"),
        ("1," * 5000 + "1 * * * *", "at most 200 characters"),
        ("9" * 5000, "at most 200 characters"),
    ],
)
def test_a_faulty_expression_is_refused_in_words(text: str, said: str) -> None:
    with pytest.raises(ScheduleError, match=said) as caught:
        parse_cron(text)
    assert len(str(caught.value)) < 400


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=60), st.text("0123456789*/,-#LW@ MONSUN", max_size=40)))
def test_any_text_is_either_a_schedule_or_refused(text: str) -> None:
    try:
        cron = parse_cron(text)
    except ScheduleError:
        return
    assert next_fires(cron, BERLIN, datetime(2026, 11, 30, tzinfo=UTC), 1)
    assert describe(cron, BERLIN).endswith("(Europe/Berlin)")


@pytest.mark.parametrize(
    ("expression", "zone", "day", "fires"),
    [
        ("30 2 * * *", NEW_YORK, "2026-03-08", ["07:00"]),
        ("30 2 * * *", BERLIN, "2026-03-29", ["01:00"]),
        ("0,30 2,3 * * *", BERLIN, "2026-03-29", ["01:00", "01:30"]),
        ("*/30 2 * * *", BERLIN, "2026-03-29", []),
        ("30 1 * * *", NEW_YORK, "2026-11-01", ["05:30"]),
        ("30 2 * * *", BERLIN, "2026-10-25", ["00:30"]),
        ("30 * * * *", BERLIN, "2026-10-25", [f"{hour:02}:30" for hour in range(24)]),
        ("*/30 1 * * *", NEW_YORK, "2026-11-01", ["05:00", "05:30", "06:00", "06:30"]),
    ],
)
def test_clock_changes_fire_a_skipped_time_once_and_a_doubled_time_once(
    expression: str, zone: ZoneInfo, day: str, fires: list[str]
) -> None:
    start = datetime.fromisoformat(day).replace(tzinfo=UTC)
    found = due(
        parse_cron(expression), zone, start - timedelta(seconds=1), start + timedelta(hours=23, minutes=59)
    )
    assert [f"{fire:%H:%M}" for fire in found.times] == fires


def test_the_same_wall_time_moves_in_utc_when_the_zone_changes() -> None:
    after = datetime(2026, 11, 30, tzinfo=UTC)
    cron = parse_cron("0 8 * * *")
    assert [f"{next_fires(cron, zone, after, 1)[0]:%d %H}" for zone in (BERLIN, NEW_YORK)] == [
        "30 07",
        "30 13",
    ]


def test_a_long_absence_is_counted_up_to_a_bound() -> None:
    found = due(
        parse_cron("* * * * *"),
        BERLIN,
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2026, 1, 1, tzinfo=UTC),
        limit=2,
    )
    assert found.times == (datetime(2025, 12, 31, 23, 59, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC))
    assert found.left_out == 9_998


def test_a_moment_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="without a time zone"):
        next_fires(parse_cron("@daily"), BERLIN, datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None), 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 8 * * 1-5", "At 08:00 on Monday through Friday (Europe/Berlin)"),
        ("@weekly", "At 00:00 on Sunday (Europe/Berlin)"),
        ("*/15 * * * *", "Every 15th minute of every hour (Europe/Berlin)"),
    ],
)
def test_a_schedule_is_described_in_words(text: str, words: str) -> None:
    assert describe(parse_cron(text), BERLIN) == words
