"""What can go wrong with models, in words for the person who must act."""

from enum import StrEnum


class ModelConfigError(Exception):
    """A configured model cannot be built. One line, no secrets."""


class ModelFault(StrEnum):
    """Why a model call failed for good."""

    BAD_KEY = "bad_key"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    TOO_LONG = "too_long"
    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    SERVER = "server"
    REFUSED = "refused"
    INVALID = "invalid"
    CUT = "cut"


class ModelFailedError(Exception):
    """A model call failed, and trying again would not help or has not helped.

    Args:
        fault: What went wrong.
        people: What to say to the people in the chat: what happened and what to do next.
        detail: For the log; carries no secret.
    """

    def __init__(self, fault: ModelFault, people: str, detail: str) -> None:
        super().__init__(detail)
        self.fault = fault
        self.people = people
        self.detail = detail
