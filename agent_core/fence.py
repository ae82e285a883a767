"""The fence: a process that lost its right to a run must not act for it any more.

A paused process can wake up after another one has taken its run over. What the caller gives as
guard knows whether the run is still ours; it is asked before each model call, each tool call and
each write of a checkpoint. A gap of microseconds between the question and the act remains.
"""

from collections.abc import Callable
from contextvars import ContextVar


class FencedError(BaseException):
    """The run belongs to somebody else now. Stop at once and write nothing.

    It is no :class:`Exception`, so that nothing on the way (a tool, a retry) takes it for a
    failure that can be handled.
    """


Guard = Callable[[], None]
"""Returns when the run is still ours, raises :class:`FencedError` when it is not."""

_current: ContextVar[Guard | None] = ContextVar("hart_fence", default=None)


def set_guard(guard: Guard | None) -> None:
    """Make ``guard`` the one that :func:`check` asks, in the current context."""
    _current.set(guard)


def check() -> None:
    """Ask the current guard. Does nothing outside a run.

    Raises:
        FencedError: The run is no longer ours.
    """
    guard = _current.get()
    if guard is not None:
        guard()
