"""Calls keep to every limit at once, urgent ones first, and nobody waits for another chat."""

import asyncio
import math
from bisect import bisect_left

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.budgets import FEISHU, SLACK, TELEGRAM
from channels.pacing import Limit, NoSlotError, Pacer, Per, Urgency

FINAL, PROGRESS = Urgency.FINAL, Urgency.PROGRESS


class MovedClock:
    """Time that moves when all who run are asleep."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        future = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.now + seconds, future))
        await future

    async def run(self, until: float = math.inf) -> None:
        """Let everyone run, and move time up to a moment."""
        while True:
            for _ in range(5):
                await asyncio.sleep(0)
            self._sleepers = [sleeper for sleeper in self._sleepers if not sleeper[1].done()]
            wakes = min((at for at, _ in self._sleepers), default=math.inf)
            if wakes > until or wakes == math.inf:
                self.now = max(self.now, until) if until < math.inf else self.now
                return
            self.now = max(self.now, wakes)
            for at, future in self._sleepers:
                if at <= self.now and not future.done():
                    future.set_result(None)


class Calls:
    """Makes calls through a pacer and notes when each went out."""

    def __init__(self, *limits: Limit) -> None:
        self.clock = MovedClock()
        self.pacer = Pacer(limits, monotonic=self.clock, sleep=self.clock.sleep)
        self.made: list[tuple[float, str, str, str]] = []
        self.tasks: list[asyncio.Task[None]] = []

    def later(self, chat: str, method: str = "send", urgency: Urgency = FINAL, name: str = "") -> None:
        self.tasks.append(asyncio.create_task(self._call(chat, method, urgency, name)))

    async def _call(self, chat: str, method: str, urgency: Urgency, name: str) -> None:
        await self.pacer.slot(chat, method, urgency)
        self.made.append((self.clock.now - 1000, chat, method, name))

    def times(self, chat: str) -> list[float]:
        return [round(at, 2) for at, where, _, _ in self.made if where == chat]


LIMITS = st.builds(
    lambda per, count, seconds, kept, methods: Limit(per, count, seconds, min(kept, count - 1), methods),
    st.sampled_from(Per),
    st.integers(1, 6),
    st.sampled_from([0.3, 1, 3, 60]),
    st.integers(0, 3),
    st.sampled_from([frozenset[str](), frozenset({"send"}), frozenset({"edit"})]),
)
CALLS = st.tuples(
    st.sampled_from("abc"), st.sampled_from(["send", "edit"]), st.sampled_from(Urgency), st.floats(0, 5)
)


@given(limits=st.lists(LIMITS, min_size=1, max_size=4), calls=st.lists(CALLS, max_size=40))
@settings(deadline=None, max_examples=120)
def test_no_window_ever_holds_more_calls_than_its_limit(limits, calls):
    async def run() -> Calls:
        made = Calls(*limits)
        moment = made.clock.now
        for chat, method, urgency, gap in calls:
            moment += gap
            await made.clock.run(until=moment)
            made.later(chat, method, urgency, urgency.name)
        await made.clock.run()
        await asyncio.gather(*made.tasks)
        return made

    made = asyncio.run(run()).made

    assert len(made) == len(calls)
    for limit in limits:
        for key in {limit.key(chat, method) for _, chat, method, _ in made} - {None}:
            mine = [call for call in made if limit.key(call[1], call[2]) == key]
            assert _most_within([call[0] for call in mine], limit.seconds) <= limit.count
            progress = [call[0] for call in mine if call[3] == "PROGRESS"]
            assert _most_within(progress, limit.seconds) <= limit.count - limit.kept


def _most_within(times: list[float], seconds: float) -> int:
    """The most calls in any window of a length; one that ends a window is not in it."""
    return max((bisect_left(times, at + seconds - 1e-9) - index for index, at in enumerate(times)), default=0)


@given(calls=st.lists(CALLS, max_size=30))
@settings(deadline=None, max_examples=60)
def test_a_call_that_meets_no_limit_goes_at_once(calls):
    async def run() -> list[float]:
        made = Calls(Limit(Per.ACCOUNT, 100, 1, kept=50))
        for chat, method, urgency, _ in calls:
            made.later(chat, method, urgency)
        await made.clock.run()
        return [at for at, _, _, _ in made.made]

    assert asyncio.run(run()) == [0.0] * len(calls)


async def test_a_short_burst_then_one_a_second():
    calls = Calls(Limit(Per.CHAT, 3, 3))
    for _ in range(7):
        calls.later("a")
    await calls.clock.run()

    assert calls.times("a") == [0, 0, 0, 3, 3, 3, 6]


async def test_a_chat_that_must_wait_holds_up_no_other():
    calls = Calls(Limit(Per.CHAT, 1, 10), Limit(Per.ACCOUNT, 30, 1))
    for chat in "aaabcd":
        calls.later(chat)
    await calls.clock.run()

    assert calls.times("a") == [0, 10, 20]
    assert [calls.times(chat) for chat in "bcd"] == [[0], [0], [0]]


async def test_finals_go_before_progress_that_waited_longer():
    calls = Calls(Limit(Per.ACCOUNT, 1, 1))
    calls.later("a", name="first")
    for number in range(3):
        calls.later("a", "edit", PROGRESS, f"edit {number}")
    await calls.clock.run(until=1000.5)
    calls.later("b", name="final")
    calls.later("b", name="final too")
    await calls.clock.run()

    assert [name for _, _, _, name in calls.made] == [
        "first",
        "final",
        "final too",
        "edit 0",
        "edit 1",
        "edit 2",
    ]


async def test_progress_never_takes_what_is_kept_for_finals():
    calls = Calls(Limit(Per.CHAT, 20, 60, kept=15))
    for _ in range(50):
        calls.pacer.try_slot("a", "edit")
    for _ in range(15):
        calls.later("a")
    await calls.clock.run(until=1000.0)

    assert calls.times("a") == [0] * 15


async def test_a_pause_of_one_chat_lasts_exactly_that_long_and_others_go_on():
    calls = Calls(Limit(Per.ACCOUNT, 30, 1))
    calls.pacer.pause(23, chat="a")
    calls.later("a")
    calls.later("b")
    assert not calls.pacer.try_slot("a", "edit")
    await calls.clock.run()

    assert (calls.times("a"), calls.times("b")) == ([23], [0])


async def test_a_pause_that_begins_while_a_call_waits_is_kept():
    calls = Calls(Limit(Per.CHAT, 1, 5))
    calls.later("a")
    calls.later("a")
    await calls.clock.run(until=1002)
    calls.pacer.pause(10, chat="a")
    calls.pacer.pause(1, chat="a")
    await calls.clock.run()

    assert calls.times("a") == [0, 12]


async def test_a_pause_may_be_for_all_or_for_one_method():
    calls = Calls(Limit(Per.ACCOUNT, 30, 1))
    calls.pacer.pause(5)
    calls.pacer.pause(9, method="upload")
    calls.later("a")
    calls.later("b", "upload")
    await calls.clock.run()

    assert (calls.times("a"), calls.times("b")) == ([5], [9])


async def test_a_method_has_its_own_budget():
    calls = Calls(Limit(Per.METHOD, 1, 60))
    for chat, method in [("a", "x"), ("b", "x"), ("c", "y")]:
        calls.later(chat, method)
    await calls.clock.run()

    assert [calls.times(chat) for chat in "abc"] == [[0], [60], [0]]


async def test_who_has_no_patience_is_told_how_long_it_takes():
    calls = Calls(Limit(Per.CHAT, 1, 60))
    await calls.pacer.slot("a", "send", patience=5)

    with pytest.raises(NoSlotError) as caught:
        await calls.pacer.slot("a", "send", patience=5)
    await calls.pacer.slot("b", "send", patience=5)

    assert caught.value.wait == 60


async def test_a_call_given_up_takes_no_slot():
    calls = Calls(Limit(Per.CHAT, 1, 5))
    for _ in range(3):
        calls.later("a")
    await calls.clock.run(until=1001)
    calls.tasks[1].cancel()
    await calls.clock.run()

    assert calls.times("a") == [0, 5]


async def test_a_thousand_chats_leave_nothing_behind_and_are_quick():
    calls = Calls(*TELEGRAM)
    for chat in range(3000):
        calls.later(str(chat), "sendMessage")
    await calls.clock.run()

    assert len(calls.made) == 3000
    assert math.isclose(calls.made[-1][0], 99, abs_tol=0.5)
    assert len(calls.pacer._windows) < 1500


@pytest.mark.parametrize(
    ("limits", "method", "chat", "expected"),
    [
        (TELEGRAM, "sendMessage", "501", 60),
        (TELEGRAM, "sendMessage", "-100500", 20),
        (SLACK, "chat.postMessage", "C1", 60),
        (SLACK, "chat.update", "C1", 50),
        (FEISHU, "messages", "oc_1", 300),
    ],
)
async def test_what_each_platform_allows_in_a_chat_in_a_minute(limits, method, chat, expected):
    calls = Calls(*limits)
    for _ in range(400):
        calls.later(chat, method)
    await calls.clock.run(until=1059.9)

    assert len(calls.made) == expected
    for task in calls.tasks:
        task.cancel()


def test_a_limit_that_leaves_nothing_is_refused():
    with pytest.raises(ValueError, match="leave something"):
        Limit(Per.CHAT, 2, 1, kept=2)
