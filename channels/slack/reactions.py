"""A reaction on a message that is being answered: Slack has no other sign that works in every channel."""

import logging
from collections.abc import Callable

from channels.messages import Address
from channels.pacing import NoSlotError, Pacer, Urgency
from channels.slack.api import ApiError, RefusedError, SlackApi
from channels.slack.people import Recent
from channels.slack.render import is_timestamp, reaction

log = logging.getLogger(__name__)

WORKING = "eyes"
"""Name of the emoji."""

ADD = "reactions.add"
REMOVE = "reactions.remove"

_PATIENCE_SECONDS = 5.0
_SHOWN_SECONDS = 24 * 3600.0
_RATE_LIMIT_SECONDS = 30.0
_SCOPE_SECONDS = 3600.0
_SETTLED = frozenset({"already_reacted", "no_reaction", "message_not_found"})


class Reactions:
    """Marks messages while they are being answered. Raises nothing for faults of Slack.

    Args:
        client: The Web API.
        account: Name of the account, for the log.
        pacer: Keeps to Slack's limits.
        monotonic: Seconds that only grow.
    """

    def __init__(self, client: SlackApi, account: str, pacer: Pacer, monotonic: Callable[[], float]) -> None:
        self._client = client
        self._account = account
        self._pacer = pacer
        self._monotonic = monotonic
        self._shown: Recent[tuple[str, str], bool] = Recent(monotonic)
        self._quiet_until = monotonic()
        self._told_scope = False

    async def begin(self, address: Address, message_id: str) -> None:
        """Mark a message, unless it is marked already."""
        key = (address.chat_id, message_id)
        if not is_timestamp(message_id) or self._shown.get(key) or self._monotonic() < self._quiet_until:
            return
        if self._pacer.try_slot(address.chat_id, ADD, Urgency.PROGRESS):
            self._shown.put(key, True, _SHOWN_SECONDS)
            await self._react(ADD, address, message_id)

    async def end(self, address: Address, message_id: str) -> None:
        """Take the mark away again."""
        key = (address.chat_id, message_id)
        if self._shown.get(key):
            self._shown.put(key, False, _SHOWN_SECONDS)
            try:
                # Waited for a little: a mark that stays would say that there is still no answer.
                await self._pacer.slot(address.chat_id, REMOVE, Urgency.PROGRESS, patience=_PATIENCE_SECONDS)
            except NoSlotError as full:
                log.debug("slack/%s: a reaction stays: %s", self._account, full)
            else:
                await self._react(REMOVE, address, message_id)

    async def _react(self, method: str, address: Address, message_id: str) -> None:
        try:
            await self._client.call(reaction(method, address, message_id, WORKING))
        except RefusedError as refused:
            if refused.error not in _SETTLED:
                self._hush(method, refused)
        except ApiError as fault:
            log.debug("slack/%s: %s failed: %s", self._account, method, fault)

    def _hush(self, method: str, refused: RefusedError) -> None:
        level = logging.DEBUG
        if refused.rate_limited:
            self._pacer.pause(refused.retry_after or _RATE_LIMIT_SECONDS, method=method)
        elif refused.error == "missing_scope":
            self._quiet_until = self._monotonic() + _SCOPE_SECONDS
            level = logging.DEBUG if self._told_scope else logging.WARNING
            self._told_scope = True
        log.log(level, "slack/%s: %s failed: %s", self._account, method, refused)
