"""Keeping to a platform's rate limits, so that it need not refuse us.

A platform's limits are a table of :class:`Limit` rows (``channels/budgets.py``). A :class:`Pacer` keeps
all of them at once for one account: what is final goes before what only shows progress, and one chat
that must wait holds up no other.
"""

import asyncio
import math
import re
import time
from bisect import insort
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum

_SHORTEST_SLEEP = 0.001
"""Seconds; without a least one, rounding could make a wait that never ends."""

_MOST_IDLE_KEYS = 1000


class Urgency(IntEnum):
    """What goes first."""

    FINAL = 0
    """What must arrive: answers and files."""
    PROGRESS = 1
    """What may be late or left out: typing, edits, streams."""


class Per(Enum):
    """What shares the budget of a limit."""

    ACCOUNT = "account"
    CHAT = "chat"
    METHOD = "method"
    """Each method has its own."""


@dataclass(frozen=True, slots=True)
class Limit:
    """At most ``count`` calls in any ``seconds``.

    Args:
        per: Who shares it.
        count: Calls.
        seconds: The length of the window, which slides.
        kept: How many of ``count`` progress must leave to what is final.
        methods: The methods it counts; all if empty.
        chats: Whole ids of the chats it counts, as a pattern; all if empty.
    """

    per: Per
    count: int
    seconds: float
    kept: int = 0
    methods: frozenset[str] = frozenset()
    chats: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.kept < self.count or self.seconds <= 0:
            raise ValueError("a limit must leave something to everyone")

    def key(self, chat: str, method: str) -> str | None:
        """What names the budget a call takes from; None for a call that it does not count."""
        if self.methods and method not in self.methods:
            return None
        if self.chats and not re.fullmatch(self.chats, chat, re.DOTALL):
            return None
        return {Per.ACCOUNT: "", Per.CHAT: chat, Per.METHOD: method}[self.per]


class NoSlotError(Exception):
    """There is no slot soon enough.

    Args:
        wait: Seconds until there may be one.
    """

    def __init__(self, wait: float) -> None:
        super().__init__(f"the next call may go out in {wait:.1f} s")
        self.wait = wait


class Window:
    """The calls of the latest ``seconds`` that count against one budget."""

    def __init__(self, limit: Limit) -> None:
        self._seconds = limit.seconds
        self._calls: dict[Urgency, deque[float]] = {
            Urgency.FINAL: deque(maxlen=limit.count),
            Urgency.PROGRESS: deque(maxlen=limit.count - limit.kept),
        }

    def free_at(self, urgency: Urgency) -> float:
        """When the next call may go; minus infinity when one may have gone at any time."""
        # What is final counts every call, so both deques bind progress.
        seen = self._calls if urgency is Urgency.PROGRESS else [Urgency.FINAL]
        full = [self._calls[kind] for kind in seen if len(self._calls[kind]) == self._calls[kind].maxlen]
        return max((calls[0] + self._seconds for calls in full), default=-math.inf)

    def take(self, urgency: Urgency, now: float) -> None:
        """Count a call."""
        self._calls[Urgency.FINAL].append(now)
        if urgency is Urgency.PROGRESS:
            self._calls[Urgency.PROGRESS].append(now)

    def is_idle(self, now: float) -> bool:
        """True when no call counts any more."""
        return not self._calls[Urgency.FINAL] or self._calls[Urgency.FINAL][-1] + self._seconds <= now


@dataclass(order=True, slots=True)
class _Waiter:
    urgency: Urgency
    number: int
    chat: str = field(compare=False)
    method: str = field(compare=False)
    granted: asyncio.Future[None] = field(compare=False)


class Pacer:
    """Hands out slots for the calls of one account.

    Args:
        limits: The platform's.
        monotonic: Seconds that only grow.
        sleep: Waits for some seconds.
    """

    def __init__(
        self,
        limits: Sequence[Limit],
        *,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._limits = limits
        self._monotonic = monotonic
        self._sleep = sleep
        self._windows: dict[tuple[int, str], Window] = {}
        self._pauses: dict[tuple[str | None, str | None], float] = {}
        self._waiting: list[_Waiter] = []
        self._number = 0
        self._alarm: asyncio.Task[None] | None = None
        self._alarm_at = math.inf

    async def slot(
        self, chat: str, method: str, urgency: Urgency = Urgency.FINAL, *, patience: float = math.inf
    ) -> None:
        """Wait until a call may be made, and count it as made.

        Args:
            chat: The chat it is for.
            method: The platform's name of what is called.
            urgency: What is more urgent goes first, and else what came first.
            patience: Seconds; if it is sure to take longer, this raises at once.

        Raises:
            NoSlotError: See ``patience``.
        """
        if self.try_slot(chat, method, urgency):
            return
        wait = self._wait(chat, method, urgency)
        if wait > patience:
            raise NoSlotError(wait)
        self._number += 1
        granted = asyncio.get_running_loop().create_future()
        waiter = _Waiter(urgency, self._number, chat, method, granted)
        insort(self._waiting, waiter)
        self._set_alarm(wait)
        try:
            await granted
        finally:
            if not granted.done() or granted.cancelled():
                self._waiting.remove(waiter)
            if not self._waiting and self._alarm:
                self._alarm.cancel()
                self._alarm, self._alarm_at = None, math.inf

    def try_slot(self, chat: str, method: str, urgency: Urgency = Urgency.PROGRESS) -> bool:
        """Take a slot if there is one now. For what is worth nothing later."""
        if self._wait(chat, method, urgency) > 0:
            return False
        self._grant()
        if self._wait(chat, method, urgency) > 0:
            return False
        self._take(chat, method, urgency)
        return True

    def pause(self, seconds: float, *, chat: str | None = None, method: str | None = None) -> None:
        """Give out no slot for some time, because the platform asked for that.

        Args:
            seconds: How long, from now.
            chat: Only for this chat; all if None.
            method: Only for this method; all if None.
        """
        now = self._monotonic()
        if len(self._pauses) >= _MOST_IDLE_KEYS:
            self._pauses = {key: until for key, until in self._pauses.items() if until > now}
        until = self._pauses.get((chat, method), now)
        self._pauses[chat, method] = max(until, now + seconds)

    def _set_alarm(self, wait: float) -> None:
        """Have slots given out after some seconds, if that is not done sooner anyway."""
        at = self._monotonic() + wait
        if at < self._alarm_at:
            if self._alarm:
                self._alarm.cancel()
            self._alarm_at = at
            self._alarm = asyncio.create_task(self._grant_in_time(wait))

    async def _grant_in_time(self, wait: float) -> None:
        """Give out slots as they become free. Lives only as long as someone waits."""
        while True:
            await self._sleep(max(_SHORTEST_SLEEP, wait))
            wait = self._grant()
            if not self._waiting:
                return
            self._alarm_at = self._monotonic() + wait

    def _grant(self) -> float:
        """Give slots to all who may go now, most urgent first: seconds until more may be free."""
        left: list[_Waiter] = []
        soonest = math.inf
        for number, waiter in enumerate(self._waiting):
            blocked = self._account_wait()
            if blocked > 0:
                left += self._waiting[number:]
                soonest = min(soonest, blocked)
                break
            wait = self._wait(waiter.chat, waiter.method, waiter.urgency)
            if wait > 0:
                left.append(waiter)
                soonest = min(soonest, wait)
            elif not waiter.granted.done():
                self._take(waiter.chat, waiter.method, waiter.urgency)
                waiter.granted.set_result(None)
            else:
                left.append(waiter)  # given up; takes itself off the list
        self._waiting = left
        return soonest

    def _account_wait(self) -> float:
        """Seconds until any call at all may go."""
        now = self._monotonic()
        free = [self._pauses.get((None, None), now)]
        for number, limit in enumerate(self._limits):
            if limit.per is Per.ACCOUNT and not limit.methods and not limit.chats:
                window = self._windows.get((number, ""))
                if window is not None:
                    free.append(window.free_at(Urgency.FINAL))
        return max(0.0, max(free) - now)

    def _wait(self, chat: str, method: str, urgency: Urgency) -> float:
        """Seconds until every limit and pause allows a call; 0 when all do."""
        now = self._monotonic()
        free = [
            self._pauses.get(key, now) for key in ((None, None), (chat, None), (None, method), (chat, method))
        ]
        for key, _ in self._keys(chat, method):
            window = self._windows.get(key)
            if window is not None:
                free.append(window.free_at(urgency))
        return max(0.0, max(free) - now)

    def _take(self, chat: str, method: str, urgency: Urgency) -> None:
        now = self._monotonic()
        if len(self._windows) >= _MOST_IDLE_KEYS:
            self._windows = {key: window for key, window in self._windows.items() if not window.is_idle(now)}
        for key, limit in self._keys(chat, method):
            self._windows.setdefault(key, Window(limit)).take(urgency, now)

    def _keys(self, chat: str, method: str) -> Iterator[tuple[tuple[int, str], Limit]]:
        for number, limit in enumerate(self._limits):
            key = limit.key(chat, method)
            if key is not None:
                yield (number, key), limit
