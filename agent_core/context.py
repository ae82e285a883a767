"""What tools and middlewares know about the run they work for."""

from dataclasses import dataclass

from agent_core.paths import ThreadFiles


@dataclass(frozen=True, slots=True)
class RunContext:
    """Given to every tool and middleware of one run; made anew when a run is resumed.

    Args:
        run_id: The run. With a tool call id it makes an idempotency key for side effects.
        thread_id: The thread.
        files: The thread's files.
    """

    run_id: str
    thread_id: str
    files: ThreadFiles
