"""The ``retention:`` section: how long things are kept."""

from typing import Annotated

from pydantic import Field

from bot.config.section import Expected, Section

Days = Annotated[int, Field(ge=1, le=36_500, strict=True), Expected("a whole number of days, 1 or more")]


class RetentionConfig(Section):
    """For how many days things are kept; None for ever. What is open is kept however old it is.

    Args:
        threads_days: Conversations, whole, after nothing has happened in them.
        messages_days: What was said and answered, in the ledger; the agent keeps what it has in mind.
        files_days: Files of conversations, since they were last changed, and copies of files sent.
    """

    threads_days: Days | None = None
    messages_days: Days | None = None
    files_days: Days | None = None

    @property
    def any(self) -> bool:
        """True when something is ever deleted."""
        return bool(self.threads_days or self.messages_days or self.files_days)
