"""Keeps the OpenAI SDK from walking through every message of every request.

Before it sends a request the SDK compares each value, down to the last string, with its type
annotations, to rename keys. LangChain's messages have their wire form already, so it changes
nothing, and with 60 messages it takes 30 ms of the event loop's time per call. What is given as
``extra_body`` is merged into the request as it is; so that is where the long parts go.
"""

from collections.abc import Mapping
from typing import Any

_LONG_PARTS = ("messages", "tools")


class PlainCompletions:
    """Stands before the SDK's ``chat.completions``.

    Args:
        completions: The SDK's object.
    """

    def __init__(self, completions: Any) -> None:
        self._completions = completions

    async def create(self, **payload: Any) -> Any:
        """Send a request; see the SDK."""
        return await self._completions.create(**plain(payload))

    @property
    def with_raw_response(self) -> "PlainCompletions":
        """The same, giving raw responses; see the SDK."""
        return PlainCompletions(self._completions.with_raw_response)


def plain(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Move the long parts of a request to ``extra_body``; what goes over the wire is the same. Pure."""
    long = {name: payload[name] for name in _LONG_PARTS if name in payload}
    rest = {name: value for name, value in payload.items() if name not in _LONG_PARTS}
    # The SDK asks for messages; the merge then puts the real ones in their place.
    return {**rest, "messages": [], "extra_body": {**long, **(payload.get("extra_body") or {})}}
