"""What can be wrong with a schedule."""


class ScheduleError(ValueError):
    """A schedule or zone cannot be read or would never fire. The text is for the person who wrote it."""
