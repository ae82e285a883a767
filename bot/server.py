"""The local server: the web page, the API behind it and the health checks."""

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import uvicorn
from starlette.types import ASGIApp

from bot.errors import OperatorError


def bind(host: str, port: int) -> socket.socket:
    """Bind the server's address before anything else is started.

    Raises:
        OperatorError: It is taken or not ours.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise OperatorError(
            f"Port {port} on {host} cannot be used: {error.strerror or error}. "
            "Stop what uses it, or set server.port in config.yaml."
        ) from None
    return listener


def local_url(listener: socket.socket) -> str:
    """How this machine reaches a bound server."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 (compared, not bound)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def new_token() -> str:
    """A random token."""
    return secrets.token_urlsafe(32)


class _Server(uvicorn.Server):
    """Leaves signals to the process that it is part of, and says when it has begun to serve."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.serving = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.serving.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving(app: ASGIApp, listener: socket.socket, closing: asyncio.Event) -> AsyncIterator[None]:
    """Serve an application while the block runs.

    Args:
        app: The application.
        listener: From :func:`bind`; closed at the end.
        closing: Set at the end, so that open event streams finish.
    """
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=3,
        proxy_headers=False,
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]), name="server")
    try:
        await server.serving.wait()
        yield
    finally:
        closing.set()
        server.should_exit = True
        with suppress(asyncio.CancelledError):
            await task
        listener.close()
