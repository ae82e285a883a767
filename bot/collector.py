"""Keeping Python's garbage collector from holding up the event loop."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def start_spared() -> Iterator[None]:
    """Have what exists by now not looked through while the block runs.

    Modules and what they hold, some hundred thousand objects, stay until the end. Looking through them all
    stops everything for a quarter of a second, again and again; what is made later is little.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
