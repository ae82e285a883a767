"""What a run tells while it goes on. Every run ends with exactly one :class:`RunEnded`."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls, as the provider counted them.

    Args:
        input_tokens: Prompt tokens, cached ones included.
        output_tokens: Generated tokens.
        cached_tokens: The part of the prompt that the provider served from its cache.
        context_tokens: Prompt plus output of the latest call: what the thread now fills.
        cost: US dollars; None where no model that was called has prices.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    context_tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of what the model thinks before it speaks; only of models set to show it.

    Args:
        message_id: Groups pieces, as with :class:`TextDelta`.
        text: The piece.
    """

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of answer text.

    Args:
        message_id: Groups pieces. A new id starts over: what came under the old id was either
            said before a tool call or belongs to a try that failed.
        text: The piece.
    """

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """The agent called a tool.

    Args:
        call_id: Tool call id; the same call may be reported twice after a resume.
        name: Tool name.
        label: What it does in words for people, such as ``Writing notes.md``.
    """

    call_id: str
    name: str
    label: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool call ended; ``ok`` is False when it ended in an error the model was told of."""

    call_id: str
    name: str
    ok: bool


@dataclass(frozen=True, slots=True)
class PresentedFile:
    """A file of the thread's outputs that the agent wants people to have.

    Args:
        path: Virtual path below ``/mnt/user-data/outputs``.
        name: File name to show.
    """

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class FilePresented:
    """The agent presented a file."""

    file: PresentedFile


class SubagentStatus(StrEnum):
    """How a subagent ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class SubagentStarted:
    """A subagent began to work, or goes on after its process died; then it is told again.

    Args:
        task_id: Id of the ``task`` call, which all events of this subagent carry.
        kind: Which kind of subagent.
        description: What it does, in the few words the lead agent gave for people.
    """

    task_id: str
    kind: str
    description: str


@dataclass(frozen=True, slots=True)
class SubagentStep:
    """A subagent's model has answered.

    Args:
        task_id: Which subagent.
        number: How often it has, counted from 1.
    """

    task_id: str
    number: int


@dataclass(frozen=True, slots=True)
class SubagentText:
    """A piece of what a subagent says; ids and pieces as in :class:`TextDelta`."""

    task_id: str
    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class SubagentTool:
    """A subagent called a tool, or its call ended."""

    task_id: str
    event: ToolStarted | ToolFinished


@dataclass(frozen=True, slots=True)
class SubagentEnded:
    """A subagent ended. A run that is cancelled as a whole may end without telling this.

    Args:
        task_id: Which subagent.
        status: How.
        usage: What it has used, also before a resume.
    """

    task_id: str
    status: SubagentStatus
    usage: Usage


SubagentEvent = SubagentStarted | SubagentStep | SubagentText | SubagentTool | SubagentEnded


@dataclass(frozen=True, slots=True)
class Todo:
    """One step of the agent's plan.

    Args:
        content: What is to be done, in the agent's words.
        status: ``pending``, ``in_progress`` or ``completed``.
    """

    content: str
    status: str


@dataclass(frozen=True, slots=True)
class TodosChanged:
    """The agent wrote its plan anew; this is the whole of it."""

    todos: tuple[Todo, ...]


class RunStatus(StrEnum):
    """How a run ended."""

    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The last event.

    Args:
        status: Done, or failed for good (a cancelled run raises ``CancelledError`` instead).
        answer: What to say: the final answer, or for a failed run what went wrong and what to
            do next, in words for people.
        files: All files presented in this run, in order, each once.
        usage: All model calls of this run, also those before a resume, and those of its subagents.
        error: For the log, when failed; carries no secret.
    """

    status: RunStatus
    answer: str
    files: tuple[PresentedFile, ...]
    usage: Usage
    error: str | None = None


RunEvent = (
    ReasoningDelta
    | TextDelta
    | ToolStarted
    | ToolFinished
    | TodosChanged
    | FilePresented
    | SubagentEvent
    | RunEnded
)
