"""The agent harness: models, tools, middlewares, checkpoints.

This room knows no chat, platform or schedule. It can be used by itself::

    from agent_core import HartClient
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_core.client import AsyncHartClient as AsyncHartClient
    from agent_core.sync_client import HartClient as HartClient

__all__ = ["AsyncHartClient", "HartClient"]


def __getattr__(name: str) -> Any:
    # Only when asked for: the libraries behind them take seconds to load.
    if name == "HartClient":
        from agent_core.sync_client import HartClient

        return HartClient
    if name == "AsyncHartClient":
        from agent_core.client import AsyncHartClient

        return AsyncHartClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
