"""What a tool call does, in a few words for people."""

import re
from collections.abc import Mapping
from typing import Any

from agent_core.text import one_line

_LABEL_LENGTH = 80
_NOT_A_NAME = re.compile(r"[^\w.+-]")
_CD = re.compile(r"^\s*cd\s+\S+\s*(?:&&|;)")


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
        case "str_replace":
            text = f"Editing {_file_name(arguments.get('path'))}"
        case "ls":
            text = f"Looking into {_file_name(arguments.get('path'))}"
        case "glob" | "grep":
            text = "Searching files"
        case "bash":
            text = f"Running {_program(arguments.get('command'))}"
        case "view_image":
            text = f"Looking at {_file_name(arguments.get('path'))}"
        case "write_todos":
            text = "Planning"
        case "ask_clarification":
            text = "Asking a question"
        case "present_files":
            text = f"Sharing {_file_names(arguments.get('paths'))}"
        case "task":
            text = f"Subagent: {arguments.get('description') or 'a task'}"
        case "read_feed":
            text = f"Reading the feed {arguments.get('url') or ''}"
        case "schedule_task":
            text = f"Scheduling {arguments.get('title') or 'a task'}"
        case "list_tasks" | "update_task" | "cancel_task":
            text = "Looking after scheduled tasks"
        case _:
            text = f"Using {tool}"
    return one_line(text, _LABEL_LENGTH)


def _file_name(path: object) -> str:
    name = path.rstrip("/").rpartition("/")[2] if isinstance(path, str) else ""
    return name or "a file"


def _program(command: object) -> str:
    """The program that a command begins with; the rest may hold what is not for everyone."""
    words = _CD.sub("", command).split() if isinstance(command, str) else []
    names = [word for word in words if "=" not in word]
    return _NOT_A_NAME.sub("", names[0].rpartition("/")[2]) or "a command" if names else "a command"


def _file_names(paths: object) -> str:
    if isinstance(paths, str):
        return _file_name(paths)
    if not isinstance(paths, list) or not paths:
        return "files"
    if len(paths) == 1:
        return _file_name(paths[0])
    return f"{len(paths)} files"
