"""The way to the outside world for addresses that strangers may choose."""

from agent_core.net.errors import FetchError, FetchFailedError, FetchRefusedError
from agent_core.net.safe_http import Fetched, SafeHttp

__all__ = ["FetchError", "FetchFailedError", "FetchRefusedError", "Fetched", "SafeHttp"]
