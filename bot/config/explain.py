"""Turns what pydantic found wrong into lines for the person who wrote the file."""

import difflib
import types
from collections.abc import Iterable
from enum import Enum
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError

from agent_core.interpolation import without_defaults
from bot.config.document import Document
from bot.config.masking import is_secret_name, looks_secret, mask_urls
from bot.config.problems import KeyPath, Problem, printable
from bot.config.section import Expected


def explain(document: Document, root: type[BaseModel], error: ValidationError) -> list[Problem]:
    """One problem for each fault of a file, in the order of its lines. Never shows a secret.

    Faults that only follow from a value which could not be read at all are left out, since the
    document reports those itself.
    """
    unread = [problem.path for problem in document.problems]
    problems: list[Problem] = []
    faults = error.errors(include_url=False, include_input=False)
    for fault in faults:
        path = tuple(step for step in fault["loc"] if step != "[key]")
        if any(path and other[: len(path)] == path for other in unread):
            continue
        if fault["type"] == "too_short" and any(
            path == other["loc"][: len(path)] for other in faults if other is not fault
        ):
            continue
        message = _message(document, root, path, fault)
        problems.append(Problem(document.file, message, document.line(path), path))
    return sorted(problems, key=lambda problem: problem.line or 0)


def suggestion(wrong: str, known: Iterable[str]) -> str:
    """``did you mean "x"?`` if one of the known names is close, else all of them."""
    names = sorted(set(known))
    close = difflib.get_close_matches(wrong, names, n=1)
    return f'did you mean "{close[0]}"?' if close else f"accepted: {', '.join(names)}"


def _message(document: Document, root: type[BaseModel], path: KeyPath, fault: Any) -> str:
    if fault["type"] == "extra_forbidden":
        parent, _ = _kind(root, path[:-1])
        return f"unknown key; {suggestion(str(path[-1]), parent.model_fields)}"
    kind, words = _kind(root, path)
    expected = words or _expectation(kind)
    own = str(fault["ctx"]["error"]) if fault["type"] == "value_error" else ""
    if own and _is_container(kind):
        return own
    if fault["type"] == "missing":
        source = document.sources.get(path)
        state = "is missing" if source is None else "has no value"
        return f"{state}, expected {expected}"
    if fault["loc"][-1:] == ("[key]",):
        return f"not a name that can be used here, expected {_expectation_of_key(root, path)}"
    hint = f"; {own}" if own else ""
    return f"found {found_at(document, path, kind)}, expected {expected}{hint}"


def found_at(document: Document, path: KeyPath, kind: Any = str) -> str:
    """What stands at a path, in words after "found". Never a secret, nor what a variable holds.

    Args:
        document: The file.
        path: Where.
        kind: The type wanted there.
    """
    source = document.sources.get(path)
    if source is None:
        return "a value from the environment"
    value = document.data
    for step in path:
        value = value[step]
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if source.text is None or value is None:
        return "nothing"
    if _is_container(kind):
        # A token written one level too high would be shown here.
        return "text" if source.quoted else "a single value"
    names = [step for step in path if isinstance(step, str)]
    if kind is SecretStr or is_secret_name(names[-1] if names else ""):
        return "a value that is not shown"
    if source.referring:
        return f'what "{printable(without_defaults(source.text))}" stands for'
    if looks_secret(source.text):
        return "a value that is not shown"
    text = printable(mask_urls(source.text))
    return f'"{text}"' if source.quoted else text


def _kind(kind: Any, path: KeyPath) -> tuple[Any, str | None]:
    """The type at a path below a model, and the words of its :class:`Expected`, if it has one."""
    kind, words = _peel(kind)
    for step in path:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            field = kind.model_fields.get(str(step))
            if field is None:
                return Any, None
            outer = [mark.words for mark in field.metadata if isinstance(mark, Expected)]
            kind, words = _peel(field.annotation)
            words = outer[-1] if outer else words
        elif get_origin(kind) is dict:
            kind, words = _peel(get_args(kind)[1])
        elif get_origin(kind) is tuple:
            kind, words = _peel(get_args(kind)[0])
        else:
            return Any, None
    return kind, words


def _peel(kind: Any) -> tuple[Any, str | None]:
    """A type without its annotations and without "or None"."""
    words: str | None = None
    while True:
        if get_origin(kind) is Annotated:
            marks = [mark.words for mark in kind.__metadata__ if isinstance(mark, Expected)]
            words = marks[-1] if marks else words
            kind = get_args(kind)[0]
        elif get_origin(kind) in {Union, types.UnionType}:
            kind = next(member for member in get_args(kind) if member is not type(None))
        else:
            return kind, words


def _is_container(kind: Any) -> bool:
    return get_origin(kind) in {dict, tuple} or (isinstance(kind, type) and issubclass(kind, BaseModel))


def _expectation(kind: Any) -> str:
    if get_origin(kind) is tuple:
        return "a list"
    if get_origin(kind) is dict:
        return "a mapping (lines of name: value)"
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return f"a mapping with keys out of {', '.join(sorted(kind.model_fields))}"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "one of " + ", ".join(str(member.value) for member in kind)
    return "true or false" if kind is bool else "text (in quotes if it looks like a number)"


def _expectation_of_key(root: type[BaseModel], path: KeyPath) -> str:
    parent, _ = _kind(root, path[:-1])
    _, words = _peel(get_args(parent)[0])
    return words or "text"
