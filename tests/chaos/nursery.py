"""A process that has loaded Hart and forks nodes from itself: ``python -m tests.chaos.nursery``.

Loading Hart takes seconds of processor time, and a crash test starts it dozens of times. A forked node
runs the same ``hart`` command in a process group of its own. ``exec`` starts the installed command instead.

One JSON object a line on standard input, one answer a line on standard output. At the end of input every
node is killed, so that none outlives the test, whatever became of that.
"""

import importlib
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

HART = Path(sys.executable).with_name("hart")


class Nursery:
    """Starts nodes and knows which have ended."""

    def __init__(self) -> None:
        self._alive: set[int] = set()
        self._ended: dict[int, int] = {}

    def obey(self, order: dict[str, Any]) -> dict[str, Any]:
        """``start`` a node or tell which have ``ended``."""
        if "start" in order:
            return {"pid": self._start(order["start"], order["environ"], order["log"], order["exec"])}
        self._reap()
        return {"ended": {str(pid): code for pid, code in self._ended.items()}}

    def _start(self, arguments: list[str], environ: dict[str, str], log: str, by_exec: bool) -> int:
        sys.stdout.flush()
        pid = os.fork()
        if pid:
            self._alive.add(pid)
            return pid
        code = 70
        try:
            _become(environ, log)
            if by_exec:
                os.execv(HART, [str(HART), *arguments])
            code = _run(arguments)
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _reap(self) -> None:
        for pid in list(self._alive):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self._alive.discard(pid)
                self._ended[pid] = os.waitstatus_to_exitcode(status)

    def end(self) -> None:
        """Kill every node with all of its group."""
        self._reap()
        for pid in self._alive:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _become(environ: dict[str, str], log: str) -> None:
    """Turn from the nursery's copy into a process of its own."""
    os.setsid()
    os.environ.clear()
    os.environ.update(environ)
    nothing = os.open(os.devnull, os.O_RDONLY)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)


def _run(arguments: list[str]) -> int:
    from bot.cli import main

    sys.argv = [str(HART), *arguments]
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


LOADED = (
    "agent_core.postgres_checkpoints",
    "bot.app",
    "bot.cli.run",
    "channels.telegram.client",
    "langchain_openai",
    "openai.resources.chat",
    "procrastinate.worker",
)
"""What a node needs, also what it would import only at first use."""


def main() -> None:
    """Load, then obey until the end of input."""
    for name in LOADED:
        importlib.import_module(name)
    nursery = Nursery()
    print(json.dumps({"ready": True}), flush=True)
    try:
        for line in sys.stdin:
            print(json.dumps(nursery.obey(json.loads(line))), flush=True)
    finally:
        nursery.end()


if __name__ == "__main__":
    main()
