"""What must hold after a crash test, judged from outside. Pure.

The oracle knows what people said, what the platform took, what the model was asked, and what the
checkpoints hold in the end. It knows nothing of Hart's ledger.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise


class Speaker(StrEnum):
    """Whose line it is in a conversation."""

    HUMAN = "human"
    CALLS = "calls"
    RESULT = "result"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Line:
    """One message of a conversation; for calls, ``text`` is the tools' names."""

    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """What a person wrote in a chat. No two have the same text."""

    chat: int
    text: str


@dataclass(frozen=True, slots=True)
class Part:
    """One message of an answer: a text, or a file with its name."""

    text: str
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Posted:
    """What the platform took from the bot.

    Args:
        chat: Where.
        part: What, without the mark of a possible repeat.
        marked: True when it had the mark.
        at: When, in seconds.
    """

    chat: int
    part: Part
    marked: bool
    at: float


@dataclass(frozen=True, slots=True)
class Disturbance:
    """A time in which a process was killed or stood still, in the seconds of :class:`Posted`."""

    since: float
    until: float


@dataclass(frozen=True, slots=True)
class Script:
    """What the model does with what a person says.

    Args:
        lines: The whole turn, the person's line included.
        parts: What people get.
    """

    lines: Callable[[str], Sequence[Line]]
    parts: Callable[[str], Sequence[Part]]


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything seen.

    Args:
        said: In the order of each chat.
        posted: In the order of acceptance.
        requests: Conversations the model was asked to go on with, without the system prompt.
        histories: The conversations in the checkpoints at the end.
        disturbances: Everything that was done to the processes.
    """

    said: Sequence[Said]
    posted: Sequence[Posted]
    requests: Sequence[Sequence[Line]]
    histories: Sequence[Sequence[Line]]
    disturbances: Sequence[Disturbance]


class Rule(StrEnum):
    """What can be violated."""

    ANSWERED = "every message is answered in full"
    ORDER = "answers come in the order of the messages"
    KNOWN = "nothing is posted that nobody asked for"
    MARKED = "a repeat is marked as a possible repeat"
    CAUSED = "a repeat has a crash between it and the one before"
    ALTERNATING = "the model is asked with a whole history that alternates"
    HISTORY = "a history is a sequence of whole turns"


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that did not hold, and where."""

    rule: Rule
    where: str


@dataclass(frozen=True, slots=True)
class Repeats:
    """How often people got something twice, and how often the model was asked the same again."""

    marked: int
    unmarked: int
    requests: int


def violations(seen: Observed, script: Script) -> list[Violation]:
    """Everything that should not have happened."""
    return [
        *_in_chats(seen, script),
        *_in_requests(seen, script),
        *_in_histories(seen, script),
    ]


def repeats(seen: Observed) -> Repeats:
    """Count what was done more than once."""
    copies = [copy for _, copies in _copies(seen.posted) for copy in copies[1:]]
    marked = sum(copy.marked for copy in copies)
    asked = Counter(tuple(request) for request in seen.requests)
    return Repeats(marked, len(copies) - marked, sum(count - 1 for count in asked.values()))


def _in_chats(seen: Observed, script: Script) -> Iterator[Violation]:
    for chat, texts in _by_chat(seen.said).items():
        expected = [part for text in texts for part in script.parts(text)]
        posts = [posted for posted in seen.posted if posted.chat == chat]
        got = {posted.part for posted in posts}
        for part in expected:
            if part not in got:
                yield Violation(Rule.ANSWERED, f"chat {chat}: {_short(part)}")
        known = set(expected)
        collapsed = [posts[0].part] if posts else []
        collapsed += [after.part for before, after in pairwise(posts) if after.part != before.part]
        kept = [part for part in collapsed if part in known]
        wanted = [part for part in expected if part in got]
        if kept != wanted:
            first = next((k for k, w in zip(kept, wanted, strict=False) if k != w), kept[-1])
            yield Violation(Rule.ORDER, f"chat {chat}: {_short(first)}")
    yield from _unknown(seen, script)
    for _, copies in _copies(seen.posted):
        for before, after in pairwise(copies):
            where = f"chat {after.chat}: {_short(after.part)}"
            if not after.marked:
                yield Violation(Rule.MARKED, where)
            if not any(before.at <= each.until and each.since <= after.at for each in seen.disturbances):
                yield Violation(Rule.CAUSED, where)


def _unknown(seen: Observed, script: Script) -> Iterator[Violation]:
    expected = {(said.chat, part) for said in seen.said for part in script.parts(said.text)}
    for posted in seen.posted:
        if (posted.chat, posted.part) not in expected:
            yield Violation(Rule.KNOWN, f"chat {posted.chat}: {_short(posted.part)}")


def _in_requests(seen: Observed, script: Script) -> Iterator[Violation]:
    scripts = _scripts(seen.said, script)
    for number, request in enumerate(seen.requests):
        whole = scripts.get(request[0].text) if request else None
        end = len(request)
        if whole is None or list(request) != whole[:end] or not _model_is_next(whole, end):
            yield Violation(Rule.ALTERNATING, f"request {number}: {_shape(request)}")


def _model_is_next(whole: Sequence[Line], end: int) -> bool:
    return end < len(whole) and whole[end].speaker in (Speaker.CALLS, Speaker.ANSWER)


def _in_histories(seen: Observed, script: Script) -> Iterator[Violation]:
    scripts = _scripts(seen.said, script)
    unseen = dict(scripts)
    for history in seen.histories:
        whole = unseen.pop(history[0].text, None) if history else None
        if whole is None or list(history) != whole:
            yield Violation(Rule.HISTORY, _shape(history))
    for text in unseen:
        yield Violation(Rule.HISTORY, f"none begins with {text!r}")


def _scripts(said: Sequence[Said], script: Script) -> dict[str, list[Line]]:
    """The whole conversation of each chat, by the line it begins with."""
    return {
        texts[0]: [line for text in texts for line in script.lines(text)] for texts in _by_chat(said).values()
    }


def _by_chat(said: Iterable[Said]) -> dict[int, list[str]]:
    chats: defaultdict[int, list[str]] = defaultdict(list)
    for one in said:
        chats[one.chat].append(one.text)
    return chats


def _copies(posted: Iterable[Posted]) -> Iterable[tuple[tuple[int, Part], list[Posted]]]:
    found: defaultdict[tuple[int, Part], list[Posted]] = defaultdict(list)
    for one in posted:
        found[one.chat, one.part].append(one)
    return found.items()


def _short(part: Part) -> str:
    return f"{part.file or 'text'}: {part.text[:60]!r}"


def _shape(lines: Sequence[Line]) -> str:
    return " | ".join(f"{line.speaker} {line.text[:24]!r}" for line in lines[-8:])
