"""Where log lines go."""

import logging
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path

FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"

NOISY = (
    "uvicorn",
    "httpx",
    "httpcore",
    "httpx2",
    "httpcore2",
    "procrastinate",
    "apscheduler",
    "asyncio",
    "alembic",
    "telegram",
)
"""Libraries whose everyday lines say nothing to an operator, or hold addresses with secrets in them."""


def log_to_stderr() -> None:
    """For a service: one line per event on standard error."""
    _configure(logging.StreamHandler(sys.stderr), logging.INFO)


def log_to_file(path: Path, level: int = logging.INFO) -> None:
    """For a terminal that is used for chatting: into a file, which is begun anew at 5 MB."""
    _configure(RotatingFileHandler(path, maxBytes=5 << 20, backupCount=2, encoding="utf-8"), level)


def _configure(handler: logging.Handler, level: int) -> None:
    handler.setFormatter(logging.Formatter(FORMAT))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)
