"""References to environment variables inside text: ``$NAME``, ``${NAME}`` and ``${NAME:-default}``."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_REFERENCE = re.compile(
    r"\$(?:(?P<dollar>\$)"
    r"|(?P<plain>[A-Za-z_][A-Za-z0-9_]*)"
    r"|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<fallback>:-(?P<default>[^}]*))?\})?"
)


@dataclass(frozen=True, slots=True)
class Unset:
    """Stands for a value that came out empty, and so counts as not set.

    Args:
        variable: The first variable it was to come from.
    """

    variable: str


class InterpolationError(ValueError):
    """A reference cannot be resolved. The text names the variable, never a value."""


def without_defaults(text: str) -> str:
    """A text with references, for people to read, without the defaults written into them."""
    return _REFERENCE.sub(lambda match: f"${{{match['name']}:-…}}" if match["fallback"] else match[0], text)


def interpolate(text: str, variables: Mapping[str, str]) -> str | Unset:
    """Put variables into a text. ``$$`` gives one dollar; what a variable holds is not looked at again.

    Returns:
        The text, or :class:`Unset` if references are all there is in it and they came out empty.

    Raises:
        InterpolationError: A variable without a default is not set or empty, or a dollar sign
            starts no reference.
    """
    names: list[str] = []

    def replacement(match: re.Match[str]) -> str:
        if match["dollar"]:
            return "$"
        name = match["plain"] or match["name"]
        if name is None:
            raise InterpolationError(
                "a dollar sign that starts no $NAME or ${NAME:-default}; write $$ for the sign itself"
            )
        names.append(name)
        value = variables.get(name, "")
        if not value and match["fallback"] is None:
            state = "is empty" if name in variables else "is not set"
            raise InterpolationError(
                f"the environment variable {name} {state}; set it, or write ${{{name}:-}} to do without"
            )
        return value or match["default"] or ""

    result = _REFERENCE.sub(replacement, text)
    return Unset(names[0]) if names and not result else result
