"""No conversation leaves this process by accident, and tracing that is off costs nothing."""

import contextvars
from collections.abc import Callable
from typing import Any

from langsmith import set_runtime_overrides
from langsmith.run_trees import configure


def disable_stray_tracing() -> None:
    """Turn LangSmith off for the whole process.

    It comes with LangChain and sends every prompt to a cloud service as soon as one variable is
    set in the environment, for whatever program it was set.

    Each middleware is wrapped by it. Also when it is off it hands its book-keeping to a thread,
    twice per middleware and call; that is done in place instead, since nothing is left to do.
    """
    configure(enabled=False)
    set_runtime_overrides(aio_to_thread=_in_place)


async def _in_place(
    default: Callable[..., Any],
    context: contextvars.Context,
    function: Callable[..., Any],
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    return context.run(function, *args, **kwargs)
