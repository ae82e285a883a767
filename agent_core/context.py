"""What tools and middlewares know about the run they work for."""

from dataclasses import dataclass

from agent_core.modes import Mode
from agent_core.paths import ThreadFiles


@dataclass(frozen=True, slots=True)
class RunContext:
    """Given to every tool and middleware of one run; made anew when a run is resumed.

    Args:
        run_id: The run. With a tool call id it makes an idempotency key for side effects.
        thread_id: The thread.
        files: The thread's files.
        user_id: Who asked, the same over all threads; None when nobody did, such as the schedule.
        private: Only this person reads the thread, so what is remembered of them may be used.
        interactive: Somebody is there who can answer a question.
        mode: How much it may spend.
        token_budget: Tokens that this run may use; None for what holds for all.
    """

    run_id: str
    thread_id: str
    files: ThreadFiles
    user_id: str | None = None
    private: bool = False
    interactive: bool = True
    mode: Mode = Mode.ULTRA
    token_budget: int | None = None
