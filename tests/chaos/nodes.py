"""Hart's processes: started, killed, paused, and gone for sure at the end."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tests.hart import Site

ROOT = Path(__file__).parents[2]
POLL_SECONDS = 0.02
READY = "Hart is running"


class Nursery:
    """The process that nodes are forked from, see :mod:`tests.chaos.nursery`.

    Args:
        by_exec: Start the installed command for each node instead, which takes seconds longer.
    """

    def __init__(self, *, by_exec: bool = False) -> None:
        self._by_exec = by_exec
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.nursery"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._read() == {"ready": True}
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def start(self, arguments: list[str], environ: Mapping[str, str], log: Path) -> int:
        """Start ``hart`` and return its process id, which is its group's as well."""
        order = {"start": arguments, "environ": dict(environ), "log": str(log), "exec": self._by_exec}
        pid: int = self._ask(order)["pid"]
        return pid

    def ended(self) -> dict[int, int]:
        """Exit codes of all nodes that have ended; negative for a signal."""
        return {int(pid): code for pid, code in self._ask({})["ended"].items()}

    def _ask(self, order: dict[str, Any]) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        print(json.dumps(order), file=self._process.stdin, flush=True)
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


@dataclass(slots=True)
class Node:
    """One process.

    Args:
        name: For the log.
        pid: Its id.
        die_at: Where it was told to die, if it was.
        log: What it printed.
    """

    name: str
    pid: int
    die_at: str | None
    log: Path

    def kill(self) -> None:
        """``kill -9``, its whole group."""
        self.signal(signal.SIGKILL)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to its group."""
        os.killpg(self.pid, number)

    def printed(self, text: str) -> bool:
        """Whether it has printed something."""
        return self.log.exists() and text in self.log.read_text(errors="replace")


class Nodes:
    """All processes of a site. Inside the block they may live; after it none does.

    Args:
        site: Where they run.
        nursery: Where they come from.
    """

    def __init__(self, site: Site, nursery: Nursery) -> None:
        self._site = site
        self._nursery = nursery
        self._started: list[Node] = []

    def __enter__(self) -> Self:
        self._site.write()
        return self

    def __exit__(self, *_: object) -> None:
        ended = self._nursery.ended()
        for node in self._started:
            if node.pid not in ended:
                node.kill()
        deadline = time.monotonic() + 10
        while any(node.pid not in self._nursery.ended() for node in self._started):
            assert time.monotonic() < deadline, "a node survived kill -9"
            time.sleep(POLL_SECONDS)

    def start(self, name: str, die_at: str | None = None) -> Node:
        """Start a node; where it is to die is a value of ``HART_DIE_AT``."""
        environ = {"HART_HOME": str(self._site.home), "PATH": os.environ["PATH"], **self._site.environ}
        if die_at:
            environ["HART_DIE_AT"] = die_at
        log = self._site.root / f"{len(self._started):03d}-{name}.log"
        arguments = ["run", "--no-console", "--config", str(self._site.root)]
        node = Node(name, self._nursery.start(arguments, environ, log), die_at, log)
        self._started.append(node)
        return node

    def ended(self) -> list[tuple[Node, int]]:
        """The nodes that have ended, with their exit codes."""
        codes = self._nursery.ended()
        return [(node, codes[node.pid]) for node in self._started if node.pid in codes]

    async def wait_for_end(self, node: Node, seconds: float) -> int:
        """Wait until a node has ended: its exit code, negative for a signal."""
        async with asyncio.timeout(seconds):
            while True:
                for ended, code in self.ended():
                    if ended is node:
                        return code
                await asyncio.sleep(POLL_SECONDS)

    async def wait_for_print(self, node: Node, text: str, seconds: float) -> None:
        """Wait until a node has printed something."""
        async with asyncio.timeout(seconds):
            while not node.printed(text):
                assert not any(ended is node for ended, _ in self.ended()), node.log.read_text()
                await asyncio.sleep(POLL_SECONDS)
