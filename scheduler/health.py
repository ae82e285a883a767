"""What follows from failures and successes of a task. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta

RETRY_DELAYS = (
    timedelta(seconds=30),
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=15),
    timedelta(minutes=60),
)
"""How long to wait after the first, second, … try of an occurrence that failed."""

ALERT_AFTER = 2
"""Failures in a row before the owner hears of them, unless an occurrence is given up earlier."""

ALERT_COOLDOWN = timedelta(hours=1)
"""How long the owner hears no further alert of the same task."""

DISABLE_AFTER = 10
"""Failures in a row after which a task is switched off."""


@dataclass(frozen=True, slots=True)
class Health:
    """How a task has been doing.

    Args:
        failures: Failed tries since the last success.
        alerted_at: When the owner was told of them, if they were.
    """

    failures: int = 0
    alerted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What to do now.

    Args:
        health: How the task is doing now.
        alert: Tell the owner of the failures.
        disable: Switch the task off, and tell the owner.
        recovered: Tell the owner that it works again.
    """

    health: Health
    alert: bool = False
    disable: bool = False
    recovered: bool = False


def after_success(health: Health) -> Outcome:
    """A run succeeded: one word of recovery if the owner had been told of failures."""
    return Outcome(Health(), recovered=health.alerted_at is not None)


def after_failure(health: Health, now: datetime, *, given_up: bool) -> Outcome:
    """A try failed.

    Args:
        health: How the task was doing.
        now: The present (aware).
        given_up: No further try of this occurrence will be made.
    """
    failures = health.failures + 1
    if failures >= DISABLE_AFTER:
        return Outcome(Health(failures, now), disable=True)
    quiet = health.alerted_at is not None and now - health.alerted_at < ALERT_COOLDOWN
    alert = (failures >= ALERT_AFTER or given_up) and not quiet
    return Outcome(Health(failures, now if alert else health.alerted_at), alert=alert)


def retry_delay(tries: int, retries: int) -> timedelta | None:
    """How long to wait for the next try; None when there is none left.

    Args:
        tries: How many tries of this occurrence have failed.
        retries: How many further tries an occurrence has.
    """
    if tries > min(retries, len(RETRY_DELAYS)):
        return None
    return RETRY_DELAYS[tries - 1]
