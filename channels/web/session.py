"""The login session: a signed cookie, and a limit on wrong tries."""

import hashlib
import hmac
from collections import deque
from collections.abc import Callable

COOKIE = "hart_session"
"""Name of the session cookie."""

SESSION_SECONDS = 30 * 24 * 3600
"""How long a login lasts."""


def new_session(token: str, now: float) -> str:
    """A cookie value that says until when it is good. Pure.

    Browsers send cookies to every port of a host, so the value must not give the token away: it
    is a signature made with it. A new token ends all sessions.
    """
    until = str(int(now) + SESSION_SECONDS)
    return f"{until}.{_sign(token, until)}"


def session_valid(cookie: str, token: str, now: float) -> bool:
    """Whether a cookie was made with this token and has not run out. Pure."""
    until, _, signature = cookie.partition(".")
    if not (until.isascii() and until.isdigit() and len(until) < 16 and signature.isascii()):
        return False
    return hmac.compare_digest(signature, _sign(token, until)) and now < int(until)


def _sign(token: str, until: str) -> str:
    return hmac.new(token.encode(), f"hart web session {until}".encode(), hashlib.sha256).hexdigest()


class TryLimit:
    """Counts wrong tries over the last minute.

    All clients count together: an address can be made up behind a proxy. Whoever is logged in
    already is not held up.

    Args:
        now: Seconds of a clock.
        per_minute: How many are let through.
    """

    def __init__(self, now: Callable[[], float], per_minute: int = 10) -> None:
        self._now = now
        self._failures: deque[float] = deque(maxlen=per_minute)

    def exhausted(self) -> bool:
        """True when the next try must wait."""
        full = len(self._failures) == self._failures.maxlen
        return full and self._failures[0] > self._now() - 60.0

    def failed(self) -> None:
        """Count a wrong try."""
        self._failures.append(self._now())
