"""What the result of a ``task`` call carries beside its text. Pure.

A subagent's messages are its own and go away with its checkpoints. What must outlive them is kept at
the result: the tokens, which are charged to the run that gave the task, and the files it presented.
"""

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from langchain_core.messages import AnyMessage, ToolMessage

from agent_core.events import PresentedFile, Usage

# Kept in ``response_metadata``, which is stored but never sent to a provider.
_USAGE = "hart_subagent_usage"


def recorded(usage: Usage) -> dict[str, Any]:
    """Give the metadata of a result whose subagent has used these tokens."""
    return {_USAGE: asdict(usage)}


def charged(message: AnyMessage) -> Usage | None:
    """Give the tokens a subagent has used for this result; None when it is no result of one."""
    if not isinstance(message, ToolMessage):
        return None
    kept = message.response_metadata.get(_USAGE)
    if not isinstance(kept, dict):
        return None
    # What another version counted besides is left out.
    return Usage(**{field.name: kept[field.name] for field in fields(Usage) if field.name in kept})


def as_artifact(files: Sequence[PresentedFile]) -> list[dict[str, str]]:
    """Give files as ``present_files`` keeps them, in plain types."""
    return [{"path": file.path, "name": file.name} for file in files]
