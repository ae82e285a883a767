"""What is put on a schedule."""

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from scheduler.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Target:
    """A chat that gets what a task produces.

    Args:
        channel: Platform name, such as ``telegram``.
        account: Which of our accounts there.
        chat: The platform's own id of the chat.
        platform_thread: The platform's own id of a thread or topic inside the chat, if any.
    """

    channel: str
    account: str
    chat: str
    platform_thread: str | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """Work to do at set times.

    Args:
        name: Unique, and the same for as long as the task is the same.
        prompt: What the agent is asked.
        schedule: When.
        zone: The zone whose wall clock the schedule follows.
        targets: Who gets the outcome.
        model: Name of the model to use; None for the default one.
        mode: How much the agent may spend; None for the default one.
        enabled: Whether the schedule fires. A run by hand is possible either way.
    """

    name: str
    prompt: str
    schedule: Schedule
    zone: ZoneInfo
    targets: tuple[Target, ...]
    model: str | None = None
    mode: str | None = None
    enabled: bool = True
