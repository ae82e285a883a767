"""The drive: people write, processes die and come back, until all is answered."""

import asyncio
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_core.checkpoints import open_checkpoints
from bot.home import Home
from tests.chaos.nodes import READY, Node, Nodes
from tests.chaos.oracle import Disturbance, Line, Observed, Said
from tests.chaos.rest import open_rows
from tests.chaos.script import history_lines, line, parts, posted, request_lines
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.telegram import Chat, TelegramEmulator, User
from tests.hart import Site

WATCH_SECONDS = 0.03
MOST_UNANSWERED = 8
MOST_MESSAGES = 4
"""People go on writing until every kill has happened, up to this many times the planned messages."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do.

    Args:
        seed: Of all that is random.
        nodes: Processes at a time.
        messages: At least so many are written.
        chats: By so many people.
        kills: ``kill -9`` at random moments.
        faults: Steps at which a process dies by itself, once each.
        seconds: When to give up.
    """

    seed: int
    nodes: int
    messages: int
    chats: int
    kills: int
    faults: tuple[str, ...] = ()
    seconds: float = 150.0


@dataclass(slots=True)
class Outcome:
    """What came of it.

    Args:
        observed: For the oracle.
        kills: How often a process was killed at a random moment.
        deaths: How often one died at a step.
        seconds: How long it took.
    """

    observed: Observed
    kills: int
    deaths: Counter[str]
    seconds: float


@dataclass(slots=True)
class Drive:
    """One drive over a site.

    Args:
        plan: What to do.
        site: Where.
        nodes: The processes.
        telegram: The platform.
        openai: The model.
    """

    plan: Plan
    site: Site
    nodes: Nodes
    telegram: TelegramEmulator
    openai: OpenAIEmulator
    said: list[Said] = field(default_factory=list)
    disturbances: list[Disturbance] = field(default_factory=list)
    deaths: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    _live: list[Node] = field(default_factory=list)
    _killed: set[int] = field(default_factory=set)
    _faults: list[str] = field(default_factory=list)

    async def run(self) -> Outcome:
        """Drive until all is answered and nothing is left to do, then stop the processes."""
        began = time.monotonic()
        self._faults = list(self.plan.faults)
        chance = random.Random(self.plan.seed)
        for number in range(self.plan.nodes):
            self._start(f"node{number}")
        try:
            async with asyncio.timeout(self.plan.seconds):
                await self._until_all_is_done(chance)
        except TimeoutError:
            raise AssertionError(
                f"not done in {self.plan.seconds:.0f} s: {self._where_it_stands()}"
            ) from None
        observed = await observe(self.site, self.telegram, self.openai, self.said, self.disturbances)
        return Outcome(observed, self.kills, self.deaths, time.monotonic() - began)

    async def _until_all_is_done(self, chance: random.Random) -> None:
        keeper = asyncio.create_task(self._keep_alive())
        try:
            await _all_of(keeper, self._speak(chance), self._kill_at_random(chance))
            await _all_of(keeper, self._until_at_rest())
        finally:
            keeper.cancel()
            await asyncio.gather(keeper, return_exceptions=True)
        await self._stop()

    def _where_it_stands(self) -> str:
        waiting = [*self._faults, *(node.die_at for node in self._live if node.die_at)]
        return (
            f"{len(self.said)} messages, unanswered {self.unanswered()}, {self.kills} kills, steps at which "
            f"nothing has died yet {waiting}; the processes' logs are in {self.site.root}"
        )

    def unanswered(self) -> list[str]:
        """What has not been answered in full."""
        got = {(one.chat_id, posted(one).part) for one in self.telegram.sent}
        return [one.text for one in self.said if any((one.chat, part) not in got for part in parts(one.text))]

    def _start(self, name: str) -> None:
        self._live.append(self.nodes.start(name, self._faults.pop(0) if self._faults else None))

    async def _keep_alive(self) -> None:
        """Start a new process at once in the place of one that has died."""
        alive_at = time.time()
        while True:
            now = time.time()
            for node, code in self.nodes.ended():
                if node in self._live:
                    self._live.remove(node)
                    self._note_death(node, code, alive_at)
                    self._start(node.name)
            alive_at = now
            await asyncio.sleep(WATCH_SECONDS)

    def _note_death(self, node: Node, code: int, alive_at: float) -> None:
        assert code == -signal.SIGKILL, f"{node.name} ended by itself ({code}):\n{node.log.read_text()}"
        if node.pid in self._killed:
            if node.die_at:
                self._faults.append(node.die_at)  # its turn did not come
            return
        assert node.die_at, f"{node.name} was killed by nobody"
        self.deaths[node.die_at] += 1
        self.disturbances.append(Disturbance(alive_at, time.time()))

    async def _kill_at_random(self, chance: random.Random) -> None:
        while self.kills < self.plan.kills:
            node = chance.choice(self._live)
            if chance.random() < 0.8:  # the others die while they start
                await until(lambda node=node: node not in self._live or node.printed(READY))
            await asyncio.sleep(chance.uniform(0.0, 2.5))
            if node not in self._live or node.pid in self._killed:
                continue
            now = time.time()
            node.kill()
            self._killed.add(node.pid)
            self.kills += 1
            self.disturbances.append(Disturbance(now, now))

    def _dying_is_over(self) -> bool:
        return self.kills >= self.plan.kills and not self._faults and not any(n.die_at for n in self._live)

    async def _speak(self, chance: random.Random) -> None:
        people = self._people()
        counts = [0] * len(people)
        while len(self.said) < self.plan.messages or not self._dying_is_over():
            if len(self.unanswered()) < MOST_UNANSWERED:
                assert len(self.said) < MOST_MESSAGES * self.plan.messages, "not every planned death came"
                index = chance.randrange(len(people))
                chat, user = people[index]
                text = line(chat.id, counts[index], file=chance.random() < 0.4)
                counts[index] += 1
                self.said.append(Said(chat.id, text))
                self.telegram.say(chat, user, text)
            await asyncio.sleep(chance.uniform(0.0, 0.3))

    def _people(self) -> list[tuple[Chat, User]]:
        users = [self.telegram.user(101 + number, f"P{number}") for number in range(self.plan.chats)]
        return [(self.telegram.private_chat(user), user) for user in users]

    async def _until_at_rest(self) -> None:
        """Wait until everything is answered and nothing is left to do, so that late repeats are seen."""
        await until(lambda: not self.unanswered() and not open_rows(self.site))

    async def _stop(self) -> None:
        for node in self._live:
            node.signal(signal.SIGTERM)
        for node in self._live:
            code = await self.nodes.wait_for_end(node, 30)
            assert code == 0, f"{node.name} did not stop well ({code}):\n{node.log.read_text()}"


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something outside of this process, which tells nobody, has become true."""
    while True:
        if condition():
            return
        await asyncio.sleep(WATCH_SECONDS)


async def observe(
    site: Site,
    telegram: TelegramEmulator,
    openai: OpenAIEmulator,
    said: Sequence[Said],
    disturbances: Sequence[Disturbance],
) -> Observed:
    """Gather what the emulators saw and the checkpoints hold; no process runs any more."""
    return Observed(
        said=said,
        posted=[posted(sent) for sent in telegram.sent],
        requests=[request_lines(request) for request in openai.requests],
        histories=await histories(site),
        disturbances=disturbances,
    )


async def histories(site: Site) -> list[list[Line]]:
    """The conversation of every thread, as its latest checkpoint has it."""
    latest: dict[str, list[Line]] = {}
    async with open_checkpoints(site.database_url, Home(site.home).checkpoints) as checkpoints:
        async for found in checkpoints.saver.alist(None):
            place = found.config["configurable"]
            if not place.get("checkpoint_ns"):
                messages = found.checkpoint["channel_values"].get("messages", [])
                latest.setdefault(place["thread_id"], history_lines(messages))
    return list(latest.values())


async def _all_of(keeper: "asyncio.Task[None]", *work: Coroutine[Any, Any, None]) -> None:
    """Do all the work, or raise what ends the keeper or any of it first."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        left = {keeper, *tasks}
        while left != {keeper}:
            done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
