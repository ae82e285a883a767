"""The steps of a message's way, and how a test makes the process die at one of them."""

import os
import signal
from collections.abc import Callable, Mapping
from enum import StrEnum


class Step(StrEnum):
    """Points between which something has become durable or visible."""

    STORED = "stored"  # the message is in the ledger, the platform is not acknowledged yet
    CLAIMED = "claimed"  # the attempt is counted
    MODEL = "model"  # the model has begun to answer
    TOOL = "tool"  # a tool was called
    TOOL_DONE = "tool_done"  # its result is known
    ENDED = "ended"  # the run ended, the ledger does not know
    CLOSED = "closed"  # the run is closed and its deliveries are written
    SENDING = "sending"  # a delivery is marked as being sent
    POSTED = "posted"  # the platform has accepted it, the ledger does not know
    SENT = "sent"  # the receipt is recorded


Observer = Callable[[Step], None]
"""Called at each step."""


def unobserved(_step: Step) -> None:
    """The observer of every real run."""


def observer_from(environ: Mapping[str, str]) -> Observer:
    """The observer asked for by ``HART_DIE_AT``: ``posted`` or ``posted:3`` kills at the third time.

    For crash tests. Nothing else reads this variable.
    """
    spec = environ.get("HART_DIE_AT")
    if not spec:
        return unobserved
    name, _, count = spec.partition(":")
    target, left = Step(name), int(count or "1")

    def die(step: Step) -> None:
        nonlocal left
        if step is target:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    return die
