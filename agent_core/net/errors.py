"""Why a page could not be had. The texts are for people and for the model: they name what was asked for,
never an address that was found behind it."""


class FetchError(Exception):
    """A fetch that brought nothing."""


class FetchRefusedError(FetchError):
    """We will not go there: the address, port or scheme is not one that may be reached from outside chats.
    Trying again changes nothing."""


class FetchFailedError(FetchError):
    """We tried and it did not work: no such name, no answer, too slow, too large, broken."""
