"""A reaction on the question while it is being worked on: the platform has no "typing"."""

import asyncio
import logging
from collections.abc import Callable

from channels.feishu.api import ApiCall, ApiError, OpenApi, RefusedError, is_id
from channels.messages import Address
from channels.pacing import Pacer, Urgency
from channels.views import Phase, RunView

log = logging.getLogger(__name__)

EMOJI = "Typing"
"""Emoji type of the reaction (open platform, "emoji list")."""

_MOST_REMEMBERED = 1000
_QUIET_SECONDS = 60.0


class Reactions:
    """Puts the reaction on, and takes it off.

    Args:
        client: The open platform.
        account: Name of the account, for the log.
        pacer: Keeps to the platform's limits.
        monotonic: Seconds that only grow.
    """

    def __init__(self, client: OpenApi, account: str, pacer: Pacer, monotonic: Callable[[], float]) -> None:
        self._client = client
        self._account = account
        self._pacer = pacer
        self._monotonic = monotonic
        self._quiet_until = monotonic()
        # A task each, because whoever shows a run is cancelled when it ends: the id must not get lost.
        self._shown: dict[tuple[str, str], asyncio.Task[str | None]] = {}

    async def show(self, address: Address, view: RunView) -> None:
        """Show that a run goes on or has ended. Never raises for faults of the platform."""
        if view.in_reply_to is None or not is_id(view.in_reply_to):
            return
        key = (view.run_id, view.in_reply_to)
        if view.phase is Phase.DONE:
            await self._take_off(key)
        elif key not in self._shown and self._may_react(address):
            self._shown[key] = asyncio.create_task(self._put_on(view.in_reply_to))
            await asyncio.shield(self._shown[key])

    async def close(self) -> None:
        """Let go of what is under way."""
        for task in self._shown.values():
            task.cancel()
        await asyncio.gather(*self._shown.values(), return_exceptions=True)
        self._shown.clear()

    def _may_react(self, address: Address) -> bool:
        if len(self._shown) >= _MOST_REMEMBERED or self._monotonic() < self._quiet_until:
            return False
        return self._pacer.try_slot(address.chat_id, "reaction", Urgency.PROGRESS)

    async def _put_on(self, message_id: str) -> str | None:
        """React, and give the reaction's id. Done twice it is the same reaction, also after a restart."""
        body = {"reaction_type": {"emoji_type": EMOJI}}
        answer = await self._try(ApiCall("POST", _path(message_id), body=body))
        match answer.get("data"):
            case {"reaction_id": str(reaction_id)}:
                return reaction_id
        return None

    async def _take_off(self, key: tuple[str, str]) -> None:
        task = self._shown.pop(key, None)
        if task is None:
            return
        reaction_id = await task
        if reaction_id is not None:
            await self._try(ApiCall("DELETE", f"{_path(key[1])}/{reaction_id}"))

    async def _try(self, call: ApiCall) -> dict[str, object]:
        try:
            return await self._client.call(call)
        except RefusedError as refused:
            if refused.too_often:
                self._quiet_until = self._monotonic() + (refused.retry_after or _QUIET_SECONDS)
            log.debug("feishu/%s: reaction not shown: %s", self._account, refused)
        except ApiError as fault:
            log.debug("feishu/%s: reaction not shown: %s", self._account, fault)
        return {}


def _path(message_id: str) -> str:
    return f"/open-apis/im/v1/messages/{message_id}/reactions"
