"""A YAML file as plain values that remember where they were written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from agent_core.interpolation import InterpolationError, Unset, interpolate
from bot.config.problems import KeyPath, Problem

MAX_VALUES = 20_000
"""Values in one file once aliases are followed: aliases of aliases grow without bound."""

MAX_DEPTH = 32
"""Levels of nesting in one file."""

_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = {_TAG + "str", _TAG + "timestamp"}
_NUMBER_TAGS = {_TAG + "bool", _TAG + "int", _TAG + "float"}


@dataclass(frozen=True, slots=True)
class Source:
    """How a value was written.

    Args:
        line: Line of its key or list item, from 1.
        text: A scalar as written, before variables were put in; None for lists and mappings.
        quoted: True when it was read as text.
        referring: True when it refers to an environment variable, and may so hold a secret.
    """

    line: int
    text: str | None = None
    quoted: bool = False
    referring: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A file's content.

    Args:
        file: Its name.
        data: The values, variables put in. :class:`Unset` stands where they came out empty.
        sources: How each value was written.
        problems: What could not be read. The values concerned are :class:`Unset` or left out.
    """

    file: str
    data: Any = None
    sources: Mapping[KeyPath, Source] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def line(self, path: KeyPath) -> int | None:
        """The line of a value, or of the nearest value around it."""
        for end in range(len(path), -1, -1):
            if (source := self.sources.get(path[:end])) is not None:
                return source.line
        return None


def read_document(file: str, text: str, variables: Mapping[str, str]) -> Document:
    """Read YAML 1.2 text and put environment variables into its strings. Never raises."""
    yaml = YAML(typ="safe", pure=True)
    yaml.composer.warn_double_anchors = False
    try:
        root = yaml.compose(text)
    except RecursionError:
        return Document(file, problems=(Problem(file, f"nested more than {MAX_DEPTH} levels deep"),))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        return Document(file, problems=(Problem(file, _syntax_message(error), line),))
    except YAMLError:
        # The reader's own error: it shows the text around, which may be a secret.
        message = "holds a control character that YAML does not allow"
        return Document(file, problems=(Problem(file, message),))
    if root is None:
        message = 'is empty; write "version: 1" into it, or remove the file to use the defaults'
        return Document(file, problems=(Problem(file, message),))
    walk = _Walk(file, variables, yaml.constructor)
    try:
        data = walk.value(root, (), root.start_mark.line + 1)
    except _TooMuchError as error:
        return Document(file, problems=(Problem(file, str(error)),))
    return Document(file, data, walk.sources, tuple(walk.problems))


def _syntax_message(error: MarkedYAMLError) -> str:
    problem = error.problem or error.context or "not YAML"
    if "'\\t'" in problem:
        return "not YAML: a tab where spaces are expected; indent with spaces"
    if "alias" in problem:
        return "not YAML: an alias (*name) without its anchor (&name); quote text that begins with *"
    if problem.endswith("got '{'"):
        return 'not YAML: "{" where it cannot stand; inside { } or [ ], put "${NAME}" in quotes'
    if "another document" in problem:
        return "holds a second document (---); expected one"
    if "tag" in problem:
        return "not YAML: a broken tag; quote text that begins with !"
    return f"not YAML: {problem}"


class _TooMuchError(Exception):
    """The file is too large once its aliases are followed."""


class _Walk:
    """One pass over the nodes of a file."""

    def __init__(self, file: str, variables: Mapping[str, str], constructor: Any) -> None:
        self.file = file
        self.variables = variables
        self.constructor = constructor
        self.sources: dict[KeyPath, Source] = {}
        self.problems: list[Problem] = []
        self.seen = 0

    def value(self, node: Node, path: KeyPath, line: int) -> Any:
        self.seen += 1
        if self.seen > MAX_VALUES:
            raise _TooMuchError(f"holds more than {MAX_VALUES} values (aliases count each time)")
        if len(path) > MAX_DEPTH:
            raise _TooMuchError(f"nested more than {MAX_DEPTH} levels deep")
        if isinstance(node, ScalarNode):
            return self.scalar(node, path, line)
        self.sources[path] = Source(line)
        if isinstance(node, MappingNode) and node.tag == _TAG + "map":
            return self.mapping(node, path)
        if isinstance(node, SequenceNode) and node.tag == _TAG + "seq":
            return self.sequence(node, path)
        return self.refuse(path, line, "a tag (!name) is not accepted here")

    def mapping(self, node: MappingNode, path: KeyPath) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, ScalarNode):
                self.problems.append(Problem(self.file, "a key must be text", line, path))
            elif key.tag == _TAG + "merge":
                self.problems.append(Problem(self.file, "<< is not accepted; write the keys", line, path))
            elif key.value in result:
                first = self.sources[(*path, key.value)].line
                message = f"given twice, first in line {first}"
                self.problems.append(Problem(self.file, message, line, (*path, key.value)))
            else:
                result[key.value] = self.value(value, (*path, key.value), line)
        return result

    def sequence(self, node: SequenceNode, path: KeyPath) -> list[Any]:
        result: list[Any] = []
        for item in node.value:
            value = self.value(item, (*path, len(result)), item.start_mark.line + 1)
            # What could not be read keeps its place, so that problems of later items have the right index.
            if not isinstance(value, Unset) or not value.variable:
                result.append(value)
        return result

    def scalar(self, node: ScalarNode, path: KeyPath, line: int) -> Any:
        quoted = node.tag in _TEXT_TAGS
        referring = quoted and "$" in node.value.replace("$$", "")
        self.sources[path] = Source(line, node.value, quoted, referring)
        if node.tag == _TAG + "null":
            return None
        if quoted:
            try:
                return interpolate(node.value, self.variables)
            except InterpolationError as error:
                return self.refuse(path, line, str(error))
        if node.tag in _NUMBER_TAGS:
            try:
                return self.constructor.construct_object(node)
            except (ValueError, KeyError, OverflowError):
                return self.refuse(path, line, "not a number that can be read")
        return self.refuse(path, line, "a tag (!name) is not accepted here")

    def refuse(self, path: KeyPath, line: int, message: str) -> Unset:
        self.problems.append(Problem(self.file, message, line, path))
        return Unset("")
