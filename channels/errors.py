"""How a platform can refuse, sorted by what to do next."""


class SendError(Exception):
    """A send that did not end in a receipt. The text is for the log and carries no secret."""


class PermanentSendError(SendError):
    """Will fail the same way again: the chat is gone, the bot was blocked, the content is refused."""


class FileRefusedError(PermanentSendError):
    """A file that cannot be posted, whatever the chat. The text says why and may be shown to people."""


class TransientSendError(SendError):
    """Surely not posted, and worth another try.

    Args:
        retry_after: Seconds the platform asked us to wait, if it said so.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class AmbiguousSendError(SendError):
    """May or may not have been posted: the connection broke after the request had left."""


class ChannelRefusedError(Exception):
    """The platform refuses our credentials. The text names the setting to mend, never its value."""


class AttachmentError(Exception):
    """An attachment could not be fetched. The text may be shown to the sender."""


class InboxUnavailableError(Exception):
    """The message could not be stored. Do not acknowledge it; the platform will deliver it again."""
