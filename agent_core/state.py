"""What LangGraph keeps of a thread, and how writes to it are joined.

Only plain JSON types: the state goes through checkpoints, and is read by later versions. Real paths
are not in it, since a thread may be resumed where they differ; they ride in the run's context.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired

from langchain.agents.middleware.types import AgentState
from typing_extensions import TypedDict


class SandboxConflictError(ValueError):
    """A thread has a sandbox and was given another one."""


class SandboxState(TypedDict):
    """The sandbox a thread works in.

    Args:
        sandbox_id: As the provider calls it.
        replaces: Id of the one it takes the place of, as when another provider was configured.
    """

    sandbox_id: NotRequired[str]
    replaces: NotRequired[str]


class TodoItem(TypedDict):
    """One step of a plan."""

    content: str
    status: Literal["pending", "in_progress", "completed"]


class UploadedFile(TypedDict):
    """A file that people sent.

    Args:
        path: Virtual path.
        name: As its sender called it.
        size: Bytes.
        mime: Media type, if known.
    """

    path: str
    name: str
    size: int
    mime: str | None


class ViewedImage(TypedDict):
    """A picture that was shown to the model.

    Args:
        mime_type: Media type.
        digest: SHA-256 of its bytes, under which they are kept.
    """

    mime_type: str
    digest: str


class PromotedTools(TypedDict):
    """Tools found by search, whose schemas the model now sees.

    Args:
        catalog_hash: The catalogue they were found in; another one makes them void.
        names: In the order they were found.
    """

    catalog_hash: NotRequired[str]
    names: NotRequired[list[str]]


class Reminder(TypedDict):
    """Something the system tells the model, at a fixed place of the history.

    Args:
        text: Without tags.
        place: ``inside`` the message it belongs to, or as a message of its own ``after`` it.
    """

    text: str
    place: Literal["inside", "after"]


class Summary(TypedDict):
    """What the model is told in place of the older messages.

    Args:
        text: The summary, without tags.
        upto: Id of the last message it stands for.
        kept: Id of a message among them that is sent all the same, because it was being worked on.
    """

    text: str
    upto: str
    kept: str | None


class TokenCount(TypedDict):
    """Tokens of all model calls of a thread."""

    input: NotRequired[int]
    output: NotRequired[int]
    cached: NotRequired[int]
    calls: NotRequired[int]


def merge_sandbox(old: SandboxState, new: SandboxState) -> SandboxState:
    """Keep the sandbox; the same one may be named again, another only in its place.

    Raises:
        SandboxConflictError: Another one is named.
    """
    before, after = old.get("sandbox_id"), new.get("sandbox_id")
    if before is None or after is None:
        return new if before is None else old
    if before != after and new.get("replaces") == before:
        return {"sandbox_id": after}
    if before != after:
        raise SandboxConflictError(f"the thread works in sandbox {before!r} and was given {after!r}")
    return old


def merge_artifacts(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Append what is new, in order, each once."""
    return list(dict.fromkeys([*old, *new]))


def latest_todos(old: Sequence[TodoItem], new: Sequence[TodoItem]) -> list[TodoItem]:
    """Keep the plan written last, also when a turn writes two."""
    return list(new)


def merge_uploads(old: Sequence[UploadedFile], new: Sequence[UploadedFile]) -> list[UploadedFile]:
    """Append in order; of one path only the newest counts."""
    return list({file["path"]: file for file in [*old, *new]}.values())


def merge_viewed_images(
    old: Mapping[str, ViewedImage], new: Mapping[str, ViewedImage]
) -> dict[str, ViewedImage]:
    """Add by path; an empty mapping clears all."""
    return {**old, **new} if new else {}


def merge_promoted(old: PromotedTools, new: PromotedTools) -> PromotedTools:
    """Append within one catalogue; another catalogue starts over."""
    if old.get("catalog_hash") != new.get("catalog_hash"):
        return new
    names = list(dict.fromkeys([*old.get("names", []), *new.get("names", [])]))
    return {**new, "names": names}


def merge_reminders(
    old: Mapping[str, Sequence[Reminder]], new: Mapping[str, Sequence[Reminder]]
) -> dict[str, list[Reminder]]:
    """Append by message id; an empty list drops those of a message. What was there stays as it is."""
    merged = {key: list(reminders) for key, reminders in old.items()}
    for key, reminders in new.items():
        if reminders:
            merged.setdefault(key, []).extend(reminders)
        else:
            merged.pop(key, None)
    return merged


def add_tokens(old: TokenCount, new: TokenCount) -> TokenCount:
    """Add up."""
    return {
        "input": old.get("input", 0) + new.get("input", 0),
        "output": old.get("output", 0) + new.get("output", 0),
        "cached": old.get("cached", 0) + new.get("cached", 0),
        "calls": old.get("calls", 0) + new.get("calls", 0),
    }


class ThreadState(AgentState[Any]):
    """The state of a thread.

    Args:
        sandbox: Where its commands run.
        title: What it is about, for lists.
        artifacts: Virtual paths of the files presented to people, in order, each once.
        todos: The plan, as the model wrote it last.
        uploaded_files: What people sent, in order.
        viewed_images: Pictures shown to the model, by virtual path.
        promoted: Tools found by search.
        reminders: What the system told the model, by the id of the message it belongs to.
        summary: Of the older part, when there was too much of it.
        token_usage: What the thread has cost.
    """

    sandbox: NotRequired[Annotated[SandboxState, merge_sandbox]]
    title: NotRequired[str]
    artifacts: NotRequired[Annotated[list[str], merge_artifacts]]
    todos: NotRequired[Annotated[list[TodoItem], latest_todos]]
    uploaded_files: NotRequired[Annotated[list[UploadedFile], merge_uploads]]
    viewed_images: NotRequired[Annotated[dict[str, ViewedImage], merge_viewed_images]]
    promoted: NotRequired[Annotated[PromotedTools, merge_promoted]]
    reminders: NotRequired[Annotated[dict[str, list[Reminder]], merge_reminders]]
    summary: NotRequired[Summary]
    token_usage: NotRequired[Annotated[TokenCount, add_tokens]]
