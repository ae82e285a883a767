"""What a tool call does, in a few words for people."""

from collections.abc import Mapping
from typing import Any

from agent_core.text import one_line

_LABEL_LENGTH = 80


def label(tool: str, arguments: Mapping[str, Any]) -> str:
    """Say what a tool call does, such as ``Writing notes.md``. Pure; never raises.

    Args:
        tool: Tool name.
        arguments: As the model gave them, of whatever type and content.
    """
    match tool:
        case "write_file":
            text = f"Writing {_file_name(arguments.get('path'))}"
        case "read_file":
            text = f"Reading {_file_name(arguments.get('path'))}"
        case "present_files":
            text = f"Sharing {_file_names(arguments.get('paths'))}"
        case "read_feed":
            text = f"Reading the feed {arguments.get('url') or ''}"
        case _:
            text = f"Using {tool}"
    return one_line(text, _LABEL_LENGTH)


def _file_name(path: object) -> str:
    name = path.rstrip("/").rpartition("/")[2] if isinstance(path, str) else ""
    return name or "a file"


def _file_names(paths: object) -> str:
    if isinstance(paths, str):
        return _file_name(paths)
    if not isinstance(paths, list) or not paths:
        return "files"
    if len(paths) == 1:
        return _file_name(paths[0])
    return f"{len(paths)} files"
