"""A ``.env`` file: ``NAME=VALUE`` lines, comments, and quotes."""

import re

from bot.config.problems import Problem

_ASSIGNMENT = re.compile(r"(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(?P<value>.*)")
_SINGLE = re.compile(r"'(?P<value>[^']*)'[ \t]*(?:#.*)?")
_DOUBLE = re.compile(r'"(?P<value>(?:[^"\\]|\\.)*)"[ \t]*(?:#.*)?')
_BARE = re.compile(r"(?P<value>(?:[^'\"#].*?)?)(?:(?:^|[ \t]+)#.*|[ \t]*)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def parse_dotenv(text: str, file: str = ".env") -> tuple[dict[str, str], list[Problem]]:
    """Read the variables of a ``.env`` file.

    A value may stand bare (up to `` #``), in single quotes (taken as it is) or in double quotes
    (``\\n``, ``\\t``, ``\\r`` and escaped characters). A later line wins over an earlier one.
    References to other variables are not resolved.

    Returns:
        The variables, and the lines that could not be read. No problem holds a value.
    """
    variables: dict[str, str] = {}
    problems: list[Problem] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        assignment = _ASSIGNMENT.fullmatch(line)
        if assignment is None:
            problems.append(Problem(file, "expected NAME=VALUE", number))
            continue
        value = _value(assignment["value"])
        if value is None:
            message = f"{assignment['name']}: expected a bare value, 'value' or \"value\" on one line"
            problems.append(Problem(file, message, number))
            continue
        variables[assignment["name"]] = value
    return variables, problems


def _value(text: str) -> str | None:
    if match := _SINGLE.fullmatch(text) or _BARE.fullmatch(text):
        return match["value"]
    if match := _DOUBLE.fullmatch(text):
        return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), match["value"])
    return None
