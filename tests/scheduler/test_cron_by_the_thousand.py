"""Thousands of expressions in every kind of zone, against an independent cron library."""

import random
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter

from scheduler.schedule import next_fires, parse_cron
from tests.scheduler.minute_oracle import oracle_fires

PAIRS = 4_000
FIRES = 6
ZONES = (
    *("America/New_York", "Europe/Berlin", "Asia/Tokyo", "Asia/Kathmandu", "Australia/Lord_Howe"),
    *("America/St_Johns", "Pacific/Chatham", "Africa/Casablanca", "Pacific/Kiritimati", "UTC"),
)
BOUNDS = ((0, 59), (0, 23), (1, 28), (1, 12), (0, 6))


def test_thousands_of_expressions_fire_when_croniter_says() -> None:
    compared = 0
    dice = random.Random(7)
    while compared < PAIRS:
        expression, zone = _expression(dice), ZoneInfo(dice.choice(ZONES))
        after = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=dice.randrange(4 * 365 * 86_400))
        local = list(islice(croniter(expression, after.astimezone(zone)).all_next(datetime), FIRES))
        expected = [fire.astimezone(UTC) for fire in local]
        if _clock_changes(zone, after, expected[-1]):
            continue  # croniter follows other rules there; the next test is about those days
        assert next_fires(parse_cron(expression), zone, after, FIRES) == expected, (expression, zone, after)
        compared += 1


@pytest.mark.parametrize("zone", ["America/New_York", "Europe/Berlin", "Australia/Lord_Howe"])
def test_hundreds_of_expressions_fire_as_documented_when_clocks_change(zone: str) -> None:
    found, dice = ZoneInfo(zone), random.Random(zone)
    for changed in _changes(found, 2026):
        for _ in range(60):
            expression = f"{_field(dice, 0, 59)} {_field(dice, 0, 4)} * * *"
            after, until = changed - timedelta(hours=8), changed + timedelta(hours=16)
            expected = oracle_fires(expression, found, after, until)
            fires = [fire for fire in next_fires(parse_cron(expression), found, after, 1500) if fire <= until]
            assert fires == expected, (expression, zone, changed)


def _expression(dice: random.Random) -> str:
    fields = [_field(dice, low, high) for low, high in BOUNDS]
    # Both days given is another rule (either is enough), and has tests of its own.
    fields[dice.choice((2, 4))] = "*"
    return " ".join(fields)


def _field(dice: random.Random, low: int, high: int) -> str:
    first, last = sorted(dice.sample(range(low, high + 1), 2))
    step = dice.randint(1, max(1, (high - low) // 2))
    forms = ("*", str(first), f"{first}-{last}", f"*/{step}", f"{first}-{last}/{step}", f"{first},{last}")
    return dice.choice(forms)


def _clock_changes(zone: ZoneInfo, after: datetime, until: datetime) -> bool:
    days = range(-2, (until - after).days + 3)
    offsets = {(after + timedelta(days=day)).astimezone(zone).utcoffset() for day in days}
    return len(offsets) > 1


def _changes(zone: ZoneInfo, year: int) -> list[datetime]:
    hours = [datetime(year, 1, 1, tzinfo=UTC) + timedelta(hours=n) for n in range(365 * 24)]
    offsets = [hour.astimezone(zone).utcoffset() for hour in hours]
    changes = [
        hour for hour, now, before in zip(hours[1:], offsets[1:], offsets, strict=False) if now != before
    ]
    assert len(changes) == 2
    return changes
