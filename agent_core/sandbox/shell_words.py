"""Reads a shell command far enough to see which programs it calls with which words. Pure.

It undoes what is commonly used to hide a word from a reader: quotes in the middle, ``${IFS}``,
``$'\\x72'``, a variable set before, ``env``, ``command``, ``xargs``. It is no shell: what is put
together by a program at run time stays unseen.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MAX_NESTING = 6
MAX_FEEDERS = 20

_OPERATORS = ";|&<>()\n"
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_ANSI_C = re.compile(r"(?<!\\)\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
)
# Stands where a substitution was taken out; of Unicode's private use area, so in no command of note.
_MARK = "\ue000"
_MARKED = re.compile(rf"{_MARK}(\d+){_MARK}")
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "0": "\0"}
_HEREDOC = re.compile(
    r"<<-?[ \t]*(?:'(\w+)'|\"(\w+)\"|\\?(\w+))([^\n]*)\n(.*?)(?:^\t*(?:\1|\2|\3)[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_COMMENT = re.compile(r"(?:^|(?<=[\s;]))#[^\n]*", re.MULTILINE)

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish"})
INTERPRETERS = SHELLS | {"python", "python3", "perl", "ruby", "node", "php", "lua", "source", "."}
# Programs whose own words end where the words of another one begin, and how many words of theirs follow.
_PREFIXES = {
    "sudo": 0, "doas": 0, "env": 0, "command": 0, "builtin": 0, "exec": 0, "nohup": 0, "setsid": 0, "time": 0,
    "nice": 0, "ionice": 0, "xargs": 0, "busybox": 0, "stdbuf": 0, "unbuffer": 0, "timeout": 1, "chronic": 0,
}  # fmt: skip
_KEYWORDS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{", "}", "fi", "done"})


@dataclass(frozen=True, slots=True)
class Call:
    """One program that a command calls.

    Args:
        program: Its name without folders.
        words: What it is given.
        targets: Files that it is redirected to or from.
        prefixes: Programs that it is called through, such as ``sudo``.
        fed_by: The calls before it in its pipeline, nearest last.
    """

    program: str
    words: tuple[str, ...]
    targets: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    fed_by: tuple["Call", ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What was seen of a command.

    Args:
        calls: In order, those in substitutions and nested shells included.
        assigned: Names of variables that it sets.
        unreadable: Whether its quoting does not add up.
    """

    calls: tuple[Call, ...]
    assigned: frozenset[str]
    unreadable: bool


def read_command(text: str) -> Reading:
    """Read a command."""
    reader = _Reader()
    reader.read(text, 0)
    return Reading(tuple(reader.calls), frozenset(reader.variables), reader.unreadable)


class _Reader:
    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.variables: dict[str, str] = {}
        self.unreadable = False

    def read(self, text: str, depth: int) -> None:
        if depth > MAX_NESTING:
            self.unreadable = True
            return
        text = _ANSI_C.sub(lambda found: shlex.quote(_decoded(found[1])), text.replace("\\\n", ""))
        text = re.sub(r"\$\{IFS[^}]*\}|\$IFS\b", " ", text)
        text = self._without_documents(text, depth)
        text, insides = _lifted(text.replace(_MARK, ""))
        for inside in insides:
            self.read(inside, depth + 1)

        def restored(words: Sequence[str]) -> list[str]:
            return [_MARKED.sub(lambda found: f"$({insides[int(found[1])]})", word) for word in words]

        for pipeline in self._pipelines(self._tokens(text)):
            fed_by: tuple[Call, ...] = ()
            for words, targets in pipeline:
                call = self._call(restored(words), restored(targets), fed_by)
                if call is not None:
                    self.calls.append(call)
                    fed_by = (*fed_by[-MAX_FEEDERS:], call)
                    self._nested(call, depth)

    def _without_documents(self, text: str, depth: int) -> str:
        """Take out here-documents; those that a shell reads are read as commands."""

        def replace(found: re.Match[str]) -> str:
            line = text[: found.start()].rpartition("\n")[2]
            if any(word.rpartition("/")[2] in SHELLS for word in (line + found[4]).split()):
                self.read(found[5], depth + 1)
            return f" {found[4]}\n"

        return _HEREDOC.sub(replace, text)

    def _tokens(self, text: str) -> list[str]:
        for attempt in (text, _COMMENT.sub("", text)):
            lexer = shlex.shlex(attempt, posix=True, punctuation_chars=_OPERATORS)
            lexer.whitespace = " \t\r"
            lexer.whitespace_split = True
            lexer.commenters = ""
            try:
                return list(lexer)
            except ValueError:
                continue
        self.unreadable = True
        return re.findall(r"[;|&<>()\n]+|[^\s;|&<>()]+", re.sub(r"[\"'\\]", "", text))

    def _pipelines(self, tokens: Sequence[str]) -> Iterator[list[tuple[list[str], list[str]]]]:
        pipeline: list[tuple[list[str], list[str]]] = [([], [])]
        redirected = False
        for token in tokens:
            if not token or token[0] not in _OPERATORS or not set(token) <= set(_OPERATORS):
                pipeline[-1][1 if redirected else 0].append(token)
                redirected = False
            elif (bare := token.strip("()")) in ("|", "|&"):
                pipeline.append(([], []))
            elif bare and set(bare) & {"<", ">"} and "\n" not in bare:
                redirected = "(" not in token
            elif bare or token:
                yield pipeline
                pipeline = [([], [])]
                redirected = False
        yield pipeline

    def _call(self, words: Sequence[str], targets: Sequence[str], fed_by: tuple[Call, ...]) -> Call | None:
        left = [self._expanded(word) for word in words]
        prefixes: list[str] = []
        # A variable may have held several words.
        left = [part for word in left for part in (word.split() if _starts_program(left, word) else [word])]
        while left:
            if left[0] in _KEYWORDS:
                del left[0]
            elif found := _ASSIGNMENT.fullmatch(left[0]):
                self.variables[found[1]] = found[2]
                del left[0]
            elif (name := left[0].rpartition("/")[2]) in _PREFIXES and len(left) > 1:
                prefixes.append(name)
                own = _PREFIXES[name]
                del left[0]
                while left and (left[0].startswith("-") or own):
                    own -= 0 if left[0].startswith("-") else 1
                    del left[0]
            else:
                break
        if not left and not targets:
            return None
        program = left[0].rpartition("/")[2] if left else ""
        return Call(program, tuple(left[1:]), tuple(map(self._expanded, targets)), tuple(prefixes), fed_by)

    def _expanded(self, word: str) -> str:
        return _VARIABLE.sub(lambda found: self.variables.get(found[1] or found[2], found[0]), word)

    def _nested(self, call: Call, depth: int) -> None:
        """Read what a call itself runs as a command."""
        if call.program == "eval":
            self.read(" ".join(call.words), depth + 1)
        elif call.program in SHELLS | {"su"}:
            for position, word in enumerate(call.words[:-1]):
                if re.fullmatch(r"-[a-z]*c", word):
                    self.read(call.words[position + 1], depth + 1)
        elif call.program == "find":
            for position, word in enumerate(call.words):
                if word in ("-exec", "-execdir", "-ok", "-okdir"):
                    self.read(shlex.join(call.words[position + 1 :]), depth + 1)


def _starts_program(words: Sequence[str], word: str) -> bool:
    return bool(words) and word is words[0] and not _ASSIGNMENT.fullmatch(word)


def _decoded(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        for digits, base in ((found[1], 16), (found[2], 16), (found[3], 16), (found[4], 8)):
            if digits:
                code = int(digits, base)
                return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "�"
        return _PLAIN_ESCAPES.get(found[5], found[5])

    return _ESCAPE.sub(character, text)


def _lifted(text: str) -> tuple[str, list[str]]:
    """Put marks in the place of ``$(…)``, ``<(…)``, ``>(…)`` and backticks, outside of single quotes.

    Returns:
        The text with marks, and what was in each place.
    """
    out: list[str] = []
    insides: list[str] = []
    at = 0
    double = False
    while at < len(text):
        char = text[at]
        if char == "'" and not double:
            end = text.find("'", at + 1)
            end = len(text) if end < 0 else end + 1
            out.append(text[at:end])
            at = end
        elif char == "\\":
            out.append(text[at : at + 2])
            at += 2
        elif char == "`" or text[at : at + 2] in ("$(", "<(", ">("):
            start = at + (1 if char == "`" else 2)
            end = text.find("`", start) if char == "`" else _closing(text, start)
            inside = text[start : end if end >= 0 else len(text)]
            out.append(f"{_MARK}{len(insides)}{_MARK}")
            insides.append(inside)
            at = start + len(inside) + 1
        else:
            double ^= char == '"'
            out.append(char)
            at += 1
    return "".join(out), insides


def _closing(text: str, start: int) -> int:
    """Where the parenthesis that was opened before ``start`` is closed; -1 if nowhere."""
    depth = 1
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return -1
