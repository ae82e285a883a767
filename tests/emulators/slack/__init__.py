"""A Slack of our own: Web API, Socket Mode and files on a real port, with people to write and faults."""

from tests.emulators.slack.delivery import Envelope, HttpTarget, encode, signed
from tests.emulators.slack.faults import (
    DropAfter,
    DropBefore,
    Hang,
    RawAnswer,
    Redirect,
    Refuse,
    Slow,
    bad_gateway,
    missing_scope,
    too_many,
)
from tests.emulators.slack.server import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, SlackEmulator
from tests.emulators.slack.world import TEAM, Channel, Sent, User

__all__ = [
    "APP_TOKEN",
    "BOT_TOKEN",
    "SIGNING_SECRET",
    "TEAM",
    "Channel",
    "DropAfter",
    "DropBefore",
    "Envelope",
    "Hang",
    "HttpTarget",
    "RawAnswer",
    "Redirect",
    "Refuse",
    "Sent",
    "SlackEmulator",
    "Slow",
    "User",
    "bad_gateway",
    "encode",
    "missing_scope",
    "signed",
    "too_many",
]
