"""What is wrong with a configuration, one line a problem."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from bot.errors import OperatorError

KeyPath = tuple[str | int, ...]
"""Where a value stands in a file: keys of mappings and indexes of lists, from the root."""


def dotted(path: KeyPath) -> str:
    """A path as people read it: ``tasks[0].targets[1].chat``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += ("." if text else "") + printable(step)
    return text


def printable(text: str, limit: int = 60) -> str:
    """Text from a file made safe for one line of a terminal."""
    shown = json.dumps(text, ensure_ascii=not text.isprintable())[1:-1]
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to mend.

    Args:
        file: File name as people know it, such as ``config.yaml``.
        message: What was found and what is accepted. Never a secret.
        line: Line in the file, from 1, if known.
        path: The key concerned; empty for the file as a whole.
    """

    file: str
    message: str
    line: int | None = None
    path: KeyPath = ()

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        key = dotted(self.path)
        return f"{place}: {key}: {self.message}" if key else f"{place}: {self.message}"


class ConfigError(OperatorError):
    """The configuration cannot be used. The text has one line for each problem.

    Args:
        problems: All that was found, in the order to show.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)
