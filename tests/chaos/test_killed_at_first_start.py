"""A process that is killed while it sets everything up leaves nothing that keeps the next one from starting.

Part of ``make chaos`` only, see ``conftest.py``.
"""

import asyncio
import random
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.chaos.nodes import READY, Nodes, Nursery
from tests.hart import Site
from tests.storage import fresh_postgres

pytestmark = [pytest.mark.xdist_group("chaos"), pytest.mark.timeout(1800)]

KILLS = 12
SECONDS = 180


@pytest.mark.parametrize("storage", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_the_next_process_starts_wherever_the_first_one_was_killed(
    storage: str, tmp_path: Path, nursery: Nursery
) -> None:
    chance = random.Random(3)
    with ExitStack() as stack:
        longest = await _start_whole(_site(storage, tmp_path / "whole", stack), nursery)
        for number in range(KILLS):
            site = _site(storage, tmp_path / str(number), stack)
            with Nodes(site, nursery) as nodes:
                first = nodes.start("first")
                await asyncio.sleep(longest * (number + chance.random()) / KILLS)
                first.kill()
                assert await nodes.wait_for_end(first, SECONDS) == -signal.SIGKILL
            await _start_whole(site, nursery)


def _site(storage: str, root: Path, stack: ExitStack) -> Site:
    root.mkdir()
    return Site(root, stack.enter_context(fresh_postgres()) if storage == "postgres" else None)


async def _start_whole(site: Site, nursery: Nursery) -> float:
    """Start and stop a process; returns how many seconds it took to be ready."""
    clock = asyncio.get_running_loop().time
    with Nodes(site, nursery) as nodes:
        began = clock()
        node = nodes.start("whole")
        await nodes.wait_for_print(node, READY, SECONDS)
        took = clock() - began
        node.signal(signal.SIGTERM)
        assert await nodes.wait_for_end(node, SECONDS) == 0, node.log.read_text()
    return took
