"""Waits grow with each failure, up to a longest, and do not all end at once."""

import pytest

from channels.backoff import backoff_seconds


@pytest.mark.parametrize(("failures", "seconds"), [(1, 1), (2, 2), (3, 4), (5, 16), (6, 30), (10_000, 30)])
def test_the_wait_doubles_up_to_the_longest(failures: int, seconds: float) -> None:
    assert backoff_seconds(failures, 1.0, longest=30.0) == seconds


@pytest.mark.parametrize("failures", [1, 4, 50])
def test_chance_takes_up_to_half_of_it_away(failures: int) -> None:
    full = backoff_seconds(failures, 1.0, longest=60.0)

    assert backoff_seconds(failures, 0.0, longest=60.0) == full / 2
    assert backoff_seconds(failures, 0.5, longest=60.0) == full * 0.75
