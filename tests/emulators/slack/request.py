"""A call of a Web API method as the emulated Slack sees it."""

import json
import re
from dataclasses import dataclass
from typing import Any

from tests.emulators.slack.world import Channel, Json, World

TIMESTAMP = re.compile(r"\d{1,11}\.\d{6}")


class RefusalError(Exception):
    """An error answer."""

    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.more = more


@dataclass(frozen=True, slots=True)
class Request:
    """One call.

    Args:
        params: Query, form and JSON body, merged.
        encoding: ``json``, ``form`` or ``query``.
        origin: Address of the emulator, for the addresses it gives out.
    """

    world: World
    params: Json
    encoding: str
    origin: str

    def text(self, name: str) -> str:
        """A parameter that must be given."""
        value = self.params.get(name)
        if not isinstance(value, str) or not value:
            raise RefusalError(
                "invalid_arguments", response_metadata={"messages": [f"[ERROR] missing {name}"]}
            )
        return value

    def parsed(self, name: str) -> Any:
        """A nested parameter, which forms carry as JSON text."""
        value = self.params.get(name)
        try:
            return json.loads(value) if isinstance(value, str) else value
        except ValueError:
            raise RefusalError("invalid_arguments") from None

    def scope(self, *scopes: str) -> None:
        """One of these scopes is needed."""
        if not self.world.scopes & set(scopes):
            provided = ",".join(sorted(self.world.scopes))
            raise RefusalError("missing_scope", needed=",".join(scopes), provided=provided)

    def no_json(self) -> None:
        """The method does not take JSON, and then sees no arguments."""
        if self.encoding == "json":
            raise RefusalError("invalid_arguments")


def channel_of(request: Request, *, name: str = "channel", writing: bool = True) -> Channel:
    """The conversation that a call names, if the bot may use it."""
    world = request.world
    channel = world.channels.get(request.text(name))
    if channel is None:
        raise RefusalError("channel_not_found")
    if world.bot.id not in channel.members:
        hidden = channel.kind in ("group", "im", "mpim")
        raise RefusalError("channel_not_found" if hidden else "not_in_channel")
    if writing and channel.archived:
        raise RefusalError("is_archived")
    return channel


def thread_of(request: Request, channel: Channel) -> str | None:
    """The thread that a call names, if any."""
    thread = request.params.get("thread_ts")
    if thread is None:
        return None
    if not isinstance(thread, str) or not TIMESTAMP.fullmatch(thread):
        raise RefusalError("invalid_thread_ts")
    if thread not in request.world.messages[channel.id]:
        raise RefusalError("thread_not_found")
    return thread
