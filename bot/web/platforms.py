"""What platforms send to us over HTTP, served beside the local server and not behind its guard.

The guard asks for a header that no platform sends, and for a host name of this machine. Each of these
routes has a check of its own instead, such as a signature.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from channels.channel import Channel


@runtime_checkable
class Reachable(Protocol):
    """A channel that a platform sends requests to."""

    def routes(self) -> Sequence[Route]:
        """Where; none when it hears in another way."""


def beside(app: ASGIApp, channels: Iterable[Channel]) -> ASGIApp:
    """The application with the routes of all channels added.

    Args:
        app: Serves everything else.
        channels: The channels that are on.
    """
    routes = [route for channel in channels if isinstance(channel, Reachable) for route in channel.routes()]
    if not routes:
        return app
    paths = {route.path for route in routes}
    platforms = Router(routes=routes, redirect_slashes=False)

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        theirs = scope["type"] == "http" and scope["path"] in paths
        await (platforms if theirs else app)(scope, receive, send)

    return serve
