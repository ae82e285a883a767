"""Noticing that something, not somebody, talks to us: two programs that answer each other for ever.

A message counts as automatic when its sender says so, or when its text is one that the same sender has
written to the same chat before, within the last minute. More than twenty automatic messages of one sender
to one chat within a minute are a loop. A person who sends many different messages at once is none, however
fast. While a loop is held, nothing of that sender in that chat is heard; after a minute it is again.
"""

from collections import Counter, OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto
from hashlib import blake2b

from channels.messages import InboundMessage

WINDOW = timedelta(seconds=60)
"""How far back messages count."""

AUTOMATIC_MAX = 20
"""Automatic messages within the window that are not a loop yet."""

HELD_FOR = timedelta(seconds=60)
"""How long a loop is held."""

MOST_SENDERS = 10_000
"""Senders remembered; those who wrote longest ago are forgotten first."""

MOST_MESSAGES = 200
"""Messages remembered of one sender."""


class Verdict(Enum):
    """What to do with a message."""

    PASS = auto()
    TRIPPED = auto()  # the message that makes it a loop: say so once
    HELD = auto()  # one more of a loop: nothing


@dataclass(frozen=True, slots=True)
class Trace:
    """What is remembered of a message.

    Args:
        at: When it came.
        key: Its dedupe key: a redelivery is not a second message.
        text: A digest of its text, without regard to case and white space.
        automatic: True when its sender says that they are a program.
    """

    at: datetime
    key: str
    text: bytes
    automatic: bool


def trace(message: InboundMessage, now: datetime) -> Trace:
    """What to remember of a message."""
    said = " ".join(message.text.casefold().split())
    files = [f"{file.name} {file.size}" for file in message.attachments]
    content = "\x00".join([said, message.action or "", *files])
    digest = blake2b(content.encode("utf-8", "replace"), digest_size=8).digest()
    return Trace(now, message.dedupe_key, digest, message.sender.is_bot)


def is_loop(recent: Iterable[Trace], now: datetime) -> bool:
    """Whether one sender's messages to one chat are a loop; see above. Pure."""
    counted = {one.key: one for one in recent if now - one.at < WINDOW}.values()
    times = Counter(one.text for one in counted)
    return sum(one.automatic or times[one.text] > 1 for one in counted) > AUTOMATIC_MAX


class LoopGuard:
    """Remembers the last messages of each sender, in this process alone."""

    def __init__(self) -> None:
        self._recent: OrderedDict[tuple[str, str], deque[Trace]] = OrderedDict()
        self._held: dict[tuple[str, str], datetime] = {}

    def judge(self, chat: str, message: InboundMessage, now: datetime) -> Verdict:
        """What to do with a message that is otherwise let in.

        Args:
            chat: The chat, as :func:`bot.lanes.chat_key` has it.
            message: The message.
            now: When it came.
        """
        whose = (chat, message.sender.id)
        until = self._held.get(whose)
        if until is not None and now < until:
            return Verdict.HELD
        self._held.pop(whose, None)
        recent = self._recent.setdefault(whose, deque(maxlen=MOST_MESSAGES))
        self._recent.move_to_end(whose)
        if len(self._recent) > MOST_SENDERS:
            self._recent.popitem(last=False)
        recent.append(trace(message, now))
        if not is_loop(recent, now):
            return Verdict.PASS
        del self._recent[whose]
        self._held = {one: end for one, end in self._held.items() if end > now} | {whose: now + HELD_FOR}
        return Verdict.TRIPPED
