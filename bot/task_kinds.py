"""What a task can be, and where it can stand."""

from enum import StrEnum


class TaskKind(StrEnum):
    """What is done when a task fires."""

    PROMPT = "prompt"  # the agent is asked
    REMINDER = "reminder"  # its text is posted as it is
    HEARTBEAT = "heartbeat"  # the agent looks after the list of a conversation


class TaskContext(StrEnum):
    """Where a run takes place."""

    FRESH = "fresh"  # a thread of its own
    THREAD = "thread"  # the conversation of the chat


class TaskState(StrEnum):
    """Where a task stands."""

    PROPOSED = "proposed"  # waits for somebody to confirm it
    ACTIVE = "active"
    PAUSED = "paused"
    DISABLED = "disabled"  # after too many failures
    DONE = "done"  # it was for one moment, which has passed
    GONE = "gone"  # no longer declared, or deleted; what it did is kept


class TaskOrigin(StrEnum):
    """Where a task comes from."""

    CONFIG = "config"
    CHAT = "chat"


class TaskRunState(StrEnum):
    """Where one occurrence of a task stands. Whether people got the outcome is another question."""

    RUNNING = "running"
    WAITING = "waiting"  # for its next try
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    SKIPPED = "skipped"


class Trigger(StrEnum):
    """Why a task fired."""

    SCHEDULE = "schedule"
    MANUAL = "manual"
