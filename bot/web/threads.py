"""Conversations over HTTP, for the ``hart threads`` commands of this machine and nobody else."""

import hmac
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Header, HTTPException

from bot.archive import Archive, Exchange, ThreadSummary
from bot.store.archive import ThreadBusyError

_MOST = 1_000


def thread_routes(archive: Archive, local_token: str) -> APIRouter:
    """Routes to list, read and delete conversations.

    Args:
        archive: The conversations.
        local_token: What the commands of this machine know. The page's token is not enough: these are
            conversations of everybody.
    """

    def only_local(authorization: Annotated[str, Header()] = "") -> None:
        if not hmac.compare_digest(authorization.encode(), f"Bearer {local_token}".encode()):
            raise HTTPException(403, "Only commands on this machine may do this.")

    router = APIRouter(prefix="/api/threads", dependencies=[Depends(only_local)])

    async def the_one(prefix: str) -> str:
        found = await archive.matching(prefix)
        if prefix in found:
            return prefix
        if len(found) > 1:
            raise HTTPException(409, "Several conversations begin so; write more of the id.")
        if not found:
            raise HTTPException(404, "There is no such conversation.")
        return found[0]

    @router.get("")
    async def threads(limit: int = 50) -> Sequence[ThreadSummary]:
        return await archive.threads(min(max(limit, 1), _MOST))

    @router.get("/{prefix}")
    async def exchanges(prefix: str) -> dict[str, str | Sequence[Exchange]]:
        thread_id = await the_one(prefix)
        return {"id": thread_id, "exchanges": await archive.exchanges(thread_id)}

    @router.delete("/{prefix}")
    async def delete(prefix: str) -> dict[str, str]:
        thread_id = await the_one(prefix)
        try:
            await archive.delete(thread_id)
        except ThreadBusyError:
            raise HTTPException(
                423, "Something is open in this conversation; wait for its answer, or /stop it."
            ) from None
        return {"id": thread_id}

    return router
