"""Reads the head of a SKILL.md. Pure.

The file may come from anywhere: its YAML is only composed, never constructed, so tags make no objects,
merge keys are not merged, and an alias stands for one short text at most.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_core.text import one_line

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node

MAX_HEAD_CHARS = 16_000
MAX_NAME = 64
MAX_DESCRIPTION = 1_024
MAX_TEXT = 500
"""Characters of the other texts."""

MAX_ENTRIES = 64
"""Tools, and entries of the metadata."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_KEYS = ("name", "description", "license", "allowed-tools", "metadata")
_FENCE = "---"
_STANDARD_TAG = "tag:yaml.org,2002:"


class SkillFormatError(ValueError):
    """A SKILL.md is not as it must be.

    Args:
        reason: What is wrong and what is accepted.
        line: Line of the file, from 1, if known.
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The head of a SKILL.md; see :class:`~agent_core.skills.skill.Skill` for the meaning."""

    name: str
    description: str
    license: str | None = None
    allowed_tools: tuple[str, ...] | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)


def valid_name(name: str) -> bool:
    """Whether a skill may have this name."""
    return len(name) <= MAX_NAME and _NAME.fullmatch(name) is not None


def read_frontmatter(text: str) -> Frontmatter:
    """Read the head of a skill's text.

    Raises:
        SkillFormatError: It is not as it must be, or nothing follows it.
    """
    head, _ = split(text)
    values = _mapping(_compose(head), "the head")
    _refuse_misspelt(values)
    name = _text(values, "name", MAX_NAME)
    if name is None or not valid_name(name):
        found = "is missing" if name is None else f"found {one_line(name, 80)!r}"
        raise SkillFormatError(
            f"name: {found}, expected up to {MAX_NAME} small letters and digits, with single dashes "
            "between them",
            _line_of(values, "name"),
        )
    description = _text(values, "description", MAX_DESCRIPTION)
    if description is None:
        raise SkillFormatError(
            "description: is missing, expected what the skill does and when to use it",
            _line_of(values, "description"),
        )
    return Frontmatter(
        name,
        description,
        _text(values, "license", MAX_TEXT),
        _tools(values),
        _metadata(values),
    )


def split(text: str) -> tuple[str, str]:
    """Part a skill's text into the YAML of its head and what follows it.

    Raises:
        SkillFormatError: There is no head, it is too long, or nothing follows it.
    """
    lines = text.splitlines()
    if not lines or lines[0].rstrip() != _FENCE:
        raise SkillFormatError("expected the file to begin with a line ---, then name and description", 1)
    end = next((number for number, line in enumerate(lines) if number and line.rstrip() == _FENCE), None)
    if end is None:
        raise SkillFormatError("the head that begins with --- does not end; put --- on a line behind it", 1)
    head, body = "\n".join(lines[1:end]), "\n".join(lines[end + 1 :]).strip()
    if len(head) > MAX_HEAD_CHARS:
        raise SkillFormatError(f"the head has {len(head)} characters, expected up to {MAX_HEAD_CHARS}", 1)
    if not body:
        raise SkillFormatError("expected instructions behind the head; there are none", end + 1)
    return head, body


def _compose(head: str) -> "Node | None":
    # Imported here: whoever has no skills needs no YAML.
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    yaml = YAML(typ="safe", pure=True)
    yaml.composer.warn_double_anchors = False
    try:
        node: Node | None = yaml.compose(head)
    except RecursionError:
        raise SkillFormatError("the head is nested too deeply") from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise SkillFormatError(
            _syntax(error.problem or error.context), mark.line + 2 if mark else None
        ) from None
    except YAMLError:
        raise SkillFormatError("the head holds a character that YAML does not allow") from None
    return node


def _syntax(problem: str | None) -> str:
    if problem and "mapping values" in problem:
        return "the head is not YAML: put a text that holds a colon in quotes"
    return f"the head is not YAML: {one_line(problem or 'it cannot be parsed', 200)}"


_Values = Mapping[str, "Node"]


def _mapping(node: "Node | None", what: str) -> dict[str, "Node"]:
    from ruamel.yaml.nodes import MappingNode, ScalarNode

    if not isinstance(node, MappingNode) or node.tag != f"{_STANDARD_TAG}map":
        raise SkillFormatError(f"{what}: expected lines of key: value", _line(node) or 2)
    result: dict[str, Node] = {}
    for key, value in node.value:
        if not isinstance(key, ScalarNode) or key.tag == f"{_STANDARD_TAG}merge":
            raise SkillFormatError(f"{what}: a key must be text", _line(key))
        if key.value in result:
            raise SkillFormatError(f"{one_line(key.value, 60)}: is there twice", _line(key))
        result[key.value] = value
    return result


def _refuse_misspelt(values: _Values) -> None:
    # Other keys are other tools' and are left alone. A misspelt one would silently not hold.
    for key, node in values.items():
        plain = key.strip().lower().replace("_", "-")
        near = difflib.get_close_matches(plain, _KEYS, n=1, cutoff=0.85)
        if key not in _KEYS and near:
            raise SkillFormatError(f"{one_line(key, 60)}: unknown; did you mean {near[0]!r}?", _line(node))


def _text(values: _Values, key: str, limit: int) -> str | None:
    node = values.get(key)
    return None if node is None else _scalar(node, key, limit)


def _scalar(node: "Node", key: str, limit: int) -> str | None:
    """The text of a node as it was written, on one line; None if it is empty."""
    from ruamel.yaml.nodes import ScalarNode

    if not isinstance(node, ScalarNode) or not str(node.tag).startswith(_STANDARD_TAG):
        raise SkillFormatError(f"{key}: expected text", _line(node))
    if node.tag == f"{_STANDARD_TAG}null":
        return None
    if len(node.value) > limit:
        raise SkillFormatError(
            f"{key}: has {len(node.value)} characters, expected up to {limit}", _line(node)
        )
    return one_line(node.value, limit) or None


def _tools(values: _Values) -> tuple[str, ...] | None:
    from ruamel.yaml.nodes import SequenceNode

    node = values.get("allowed-tools")
    if node is None:
        return None
    if isinstance(node, SequenceNode):
        found = [_scalar(item, "allowed-tools", MAX_TEXT) for item in node.value[: MAX_ENTRIES + 1]]
        names = [name for name in found if name]
    else:
        names = re.split(r"[\s,]+", (_scalar(node, "allowed-tools", MAX_DESCRIPTION) or "").strip(", "))
    names = [name for name in names if name]
    if len(names) > MAX_ENTRIES:
        raise SkillFormatError(f"allowed-tools: expected up to {MAX_ENTRIES}", _line(node))
    return tuple(dict.fromkeys(names))


def _metadata(values: _Values) -> dict[str, str]:
    node = values.get("metadata")
    if node is None:
        return {}
    entries = _mapping(node, "metadata")
    if len(entries) > MAX_ENTRIES:
        raise SkillFormatError(f"metadata: expected up to {MAX_ENTRIES} entries", _line(node))
    return {
        one_line(key, MAX_TEXT): _scalar(value, f"metadata.{one_line(key, 60)}", MAX_TEXT) or ""
        for key, value in entries.items()
    }


def _line_of(values: _Values, key: str) -> int | None:
    return _line(values.get(key))


def _line(node: "Node | None") -> int | None:
    # The head begins in the second line of the file.
    return None if node is None else node.start_mark.line + 2
