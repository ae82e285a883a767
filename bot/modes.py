"""Which mode a thread is in."""

from agent_core.modes import Mode


def usable_mode(chosen: str | None, default: Mode) -> Mode:
    """The chosen mode, or the default when none was chosen or there is none of that name any more."""
    return Mode(chosen) if chosen in list(Mode) else default
