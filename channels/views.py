"""What a running agent looks like from a chat, folded small enough to show live."""

from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """Where a run stands."""

    THINKING = "thinking"
    WORKING = "working"
    ANSWERING = "answering"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class ToolLine:
    """One tool call, in words for people.

    Args:
        id: Tool call id.
        label: What is being done, such as ``Writing notes.md``. Never raw arguments or paths.
        done: True once it ended.
        ok: False when it ended in an error.
    """

    id: str
    label: str
    done: bool = False
    ok: bool = True


@dataclass(frozen=True, slots=True)
class RunView:
    """A snapshot of a run. A newer one replaces an older one; missing some does no harm.

    Args:
        run_id: Which run.
        in_reply_to: Platform id of the message the run answers, if any.
        phase: Where it stands.
        text: The answer so far (markdown, may be cut anywhere).
        tools: Tool calls so far, oldest first.
    """

    run_id: str
    in_reply_to: str | None
    phase: Phase = Phase.THINKING
    text: str = ""
    tools: tuple[ToolLine, ...] = ()
