"""Ends processes of a command on this machine, those that hid from its process group included."""

import os
import signal
from contextlib import suppress
from pathlib import Path

COMMAND_VARIABLE = "HART_COMMAND"
"""Tells by the environment of a process which command it belongs to."""

_ROUNDS = 10


def kill_command(group: int, command_id: str) -> None:
    """Kill all processes of a command. Blocks for some milliseconds.

    Args:
        group: Its process group.
        command_id: The value of ``HART_COMMAND`` in its processes.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    # Again until none is found: one may have forked while the others were killed.
    for _ in range(_ROUNDS):
        found = _processes_of(command_id)
        if not found:
            return
        for process in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)


def _processes_of(command_id: str) -> list[int]:
    wanted = f"{COMMAND_VARIABLE}={command_id}".encode()
    found = []
    # Where there is no /proc, the process group has to do.
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if wanted in entry.read_bytes().split(b"\0"):
                found.append(int(entry.parent.name))
    return found
