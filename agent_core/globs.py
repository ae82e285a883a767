"""Path patterns: ``*`` and ``?`` within a name, ``[...]``, and ``**`` over any number of folders."""

import regex

_MATCH_SECONDS = 1.0


class GlobError(ValueError):
    """The pattern cannot be used; words for the model."""


class Glob:
    """A compiled path pattern.

    Args:
        pattern: Such as ``**/*.py``. One without a slash is matched against the name alone.

    Raises:
        GlobError: It cannot be read.
    """

    def __init__(self, pattern: str) -> None:
        self._name_only = "/" not in pattern
        try:
            self._regex = regex.compile(_translate(pattern))
        except regex.error:
            raise GlobError(f"the pattern {pattern!r} cannot be read") from None

    def matches(self, path: str) -> bool:
        """Whether a relative path fits.

        Raises:
            GlobError: Finding out takes too long.
        """
        text = path.rpartition("/")[2] if self._name_only else path
        try:
            return self._regex.fullmatch(text, timeout=_MATCH_SECONDS) is not None
        except TimeoutError:
            raise GlobError("the pattern is too costly; use fewer wildcards") from None


def _translate(pattern: str) -> str:
    out: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if pattern.startswith("**/", at):
            out.append("(?:[^/]++/)*")
            at += 3
        elif pattern.startswith("**", at):
            out.append(".*")
            at += 2
        elif char == "*":
            out.append("[^/]*")
            at += 1
        elif char == "?":
            out.append("[^/]")
            at += 1
        elif char == "[" and (end := pattern.find("]", at + 2)) > 0:
            inside = pattern[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            out.append(f"[^/{inside[1:]}]" if inside[0] == "!" else f"[{inside}]")
            at = end + 1
        else:
            out.append(regex.escape(char))
            at += 1
    return "".join(out)
