"""The app's access token: fetched when needed, by one at a time, and kept until it nears its end."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from channels.feishu.api import ApiError

log = logging.getLogger(__name__)

_MARGIN_SECONDS = 300.0
_RETRY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Token:
    """A ``tenant_access_token``.

    Args:
        value: The token itself; not shown in ``repr``.
        lifetime: Seconds it is good for, from when it was asked for.
    """

    value: str = field(repr=False)
    lifetime: float


class TokenCache:
    """Hands out the token.

    Args:
        fetch: Gets a token from the platform; raises :class:`~channels.feishu.api.ApiError`.
        monotonic: Seconds that only grow.
    """

    def __init__(self, fetch: Callable[[], Awaitable[Token]], monotonic: Callable[[], float]) -> None:
        self._fetch = fetch
        self._monotonic = monotonic
        self._token: Token | None = None
        self._ends = 0.0
        self._renew_at = 0.0
        self._one_at_a_time = asyncio.Lock()

    async def get(self) -> Token:
        """A token that is still good.

        Raises:
            ApiError: There is none, and none could be fetched.
        """
        if self._token is not None and self._monotonic() < self._renew_at:
            return self._token
        async with self._one_at_a_time:
            now = self._monotonic()
            if self._token is not None and now < self._renew_at:
                return self._token
            try:
                return await self._renew()
            except ApiError as fault:
                if self._token is None or now >= self._ends:
                    raise
                log.warning("feishu: the token could not be renewed in time, trying again soon: %s", fault)
                self._renew_at = min(now + _RETRY_SECONDS, self._ends)
                return self._token

    async def renew(self) -> None:
        """Fetch a token, whatever we have.

        Raises:
            ApiError: It could not be fetched.
        """
        async with self._one_at_a_time:
            await self._renew()

    def forget(self, token: Token) -> None:
        """Never hand this one out again: the platform does not take it."""
        if self._token is token:
            self._token = None

    async def _renew(self) -> Token:
        asked = self._monotonic()
        token = await self._fetch()
        self._ends = asked + token.lifetime
        self._renew_at = self._ends - min(_MARGIN_SECONDS, token.lifetime / 4)
        self._token = token
        return token
