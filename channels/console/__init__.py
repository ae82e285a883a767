"""The console channel: talk to a running Hart from a terminal or a script."""

from channels.console.client import LocalClient, LocalServerError
from channels.console.oneshot import run_oneshot
from channels.console.repl import run_repl

__all__ = ["LocalClient", "LocalServerError", "run_oneshot", "run_repl"]
