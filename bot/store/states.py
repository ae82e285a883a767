"""The states that rows of the ledger go through."""

from enum import StrEnum


class InboundKind(StrEnum):
    """What an inbound row is."""

    MESSAGE = "message"
    COMMAND = "command"
    TASK = "task"
    REFUSED = "refused"  # by somebody who is not heard
    DENIED = "denied"  # by somebody who is heard, but not with this
    REJECTED = "rejected"
    HELD = "held"  # a part of something that no other part has addressed to us yet; see bot.store.parts


class RunState(StrEnum):
    """Where a run stands."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    SET_ASIDE = "set_aside"


class DeliveryState(StrEnum):
    """Where a delivery stands. ``sending`` at a take-over means nobody knows whether it arrived."""

    OPEN = "open"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
