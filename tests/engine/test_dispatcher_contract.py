"""What every dispatcher promises, in one process and on Postgres."""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import urlsplit, urlunsplit

import pytest

from bot.engine import postgres
from bot.engine.dispatcher import Dispatcher
from bot.engine.inprocess import InProcessDispatcher
from bot.engine.postgres import PostgresDispatcher
from bot.lanes import Lane, LaneKind
from bot.store.database import Database, libpq_url, postgres_url
from bot.store.schema import migrate
from tests.engine.cable import Cable, cable
from tests.engine.lane_service import LaneService

SLOTS = {LaneKind.THREAD: 3, LaneKind.CONTROL: 2, LaneKind.CHAT: 2}
TAKE_OVER_SECONDS = 15.0
LISTENERS = len(SLOTS)
ROUNDS = 10
IDLE = Lane(LaneKind.CONTROL, "idle")

Start = Callable[[LaneService], Awaitable[Dispatcher]]


def thread(number: int) -> Lane:
    return Lane(LaneKind.THREAD, f"t{number}")


@pytest.fixture
async def conninfo(database_url: str | None) -> str | None:
    """A database with its schema, or None in process."""
    if database_url is None:
        return None
    database = Database(postgres_url(database_url))
    await asyncio.to_thread(migrate, database)
    await database.close()
    return libpq_url(database.url)


@pytest.fixture
async def start(conninfo: str | None) -> AsyncIterator[Start]:
    """Starts dispatchers and closes them."""
    started: list[Dispatcher] = []

    async def make(service: LaneService) -> Dispatcher:
        dispatcher = InProcessDispatcher(SLOTS) if conninfo is None else PostgresDispatcher(conninfo, SLOTS)
        started.append(dispatcher)
        await dispatcher.start(service)
        return dispatcher

    yield make
    for dispatcher in started:
        await dispatcher.close()


class TestEveryDispatcher:
    async def test_serves_a_lane_one_at_a_time(self, start: Start) -> None:
        service = LaneService()
        service.gate.clear()
        dispatcher = await start(service)
        for _ in range(5):
            await dispatcher.wake(thread(1))
        await service.until(lambda: service.active[thread(1)] == 1)
        await dispatcher.wake(thread(1))
        service.gate.set()
        await service.until(lambda: len(service.ended) >= 2)
        assert service.most_per_lane == 1

    async def test_serves_again_after_a_wake_during_service(self, start: Start) -> None:
        service = LaneService()
        service.gate.clear()
        dispatcher = await start(service)
        await dispatcher.wake(thread(1))
        await service.until(lambda: service.active[thread(1)] == 1)
        await dispatcher.wake(thread(1))
        service.gate.set()
        await service.until(lambda: len(service.ended) == 2)
        assert service.ended == [thread(1), thread(1)]

    async def test_does_not_wait_for_a_poll_to_serve_again(
        self, start: Start, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Lanes become free at any moment, also while the dispatcher is just looking for work."""
        monkeypatch.setattr(postgres, "POLL_SECONDS", 3600.0)
        lanes = [thread(number) for number in range(SLOTS[LaneKind.THREAD])]
        service = LaneService()
        dispatcher = await start(service)
        for _ in range(ROUNDS):
            service.gate.clear()
            service.ended.clear()
            for lane in lanes:
                await dispatcher.wake(lane)
            await service.until(lambda: service.active.total() == len(lanes))
            for lane in lanes:
                await dispatcher.wake(lane)
            service.gate.set()
            await service.until(lambda: len(service.ended) == 2 * len(lanes))

    async def test_serves_many_lanes_at_once_as_far_as_there_are_slots(self, start: Start) -> None:
        service = LaneService()
        service.gate.clear()
        dispatcher = await start(service)
        lanes = [thread(number) for number in range(7)]
        for lane in lanes:
            await dispatcher.wake(lane)
        await service.until(lambda: service.active.total() == SLOTS[LaneKind.THREAD])
        other = Lane(LaneKind.CONTROL, "c")
        await dispatcher.wake(other)  # another kind has slots of its own
        await service.until(lambda: service.active[other] == 1)
        assert service.active.total() == SLOTS[LaneKind.THREAD] + 1
        service.gate.set()
        await service.until(lambda: len(service.ended) == len(lanes) + 1)
        assert Counter(service.ended) == Counter([*lanes, other])
        assert service.most_at_once == SLOTS[LaneKind.THREAD] + 1

    async def test_loses_no_wake(self, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
        """Work that is there before a wake is done after it, however wakes and services fall together."""
        monkeypatch.setattr(postgres, "POLL_SECONDS", 3600.0)
        work: Counter[Lane] = Counter()
        done: Counter[Lane] = Counter()
        finished = asyncio.Event()

        class Worker(LaneService):
            async def __call__(self, lane: Lane) -> None:
                taken = work.pop(lane, 0)
                await asyncio.sleep(0.01)
                done[lane] += taken
                if done.total() == 200:
                    finished.set()

        dispatcher = await start(Worker())
        for round_ in range(20):
            for number in range(10):
                work[thread(number)] += 1
                await dispatcher.wake(thread(number))
            await asyncio.sleep(0.001 * (round_ % 3))
        async with asyncio.timeout(30):
            await finished.wait()
        assert all(done[thread(number)] == 20 for number in range(10))

    async def test_goes_on_after_a_service_that_failed(self, start: Start) -> None:
        class Failing(LaneService):
            async def __call__(self, lane: Lane) -> None:
                await super().__call__(lane)
                if len(self.ended) == 1:
                    raise RuntimeError("broken")

        service = Failing()
        dispatcher = await start(service)
        await dispatcher.wake(thread(1))
        await service.until(lambda: len(service.ended) == 1)
        await dispatcher.wake(thread(1))
        await service.until(lambda: len(service.ended) == 2)

    async def test_begins_nothing_new_once_it_drains(self, start: Start) -> None:
        service = LaneService()
        service.gate.clear()
        dispatcher = await start(service)
        for number in range(6):
            await dispatcher.wake(thread(number))
        await service.until(lambda: service.active.total() == SLOTS[LaneKind.THREAD])
        begun = list(service.begun)
        await dispatcher.drain()
        service.gate.set()
        await service.until(lambda: service.active.total() == 0)
        await dispatcher.close()
        assert service.begun == begun
        assert Counter(service.ended) == Counter(begun)


class TestTheDispatcherOnPostgres:
    @pytest.fixture
    def database_url(self, request: pytest.FixtureRequest) -> str:
        """Postgres alone."""
        url: str = request.getfixturevalue("postgres_url")
        return url

    async def test_leaves_what_it_did_not_begin_to_another_node(self, start: Start) -> None:
        first, second = LaneService(), LaneService()
        first.gate.clear()
        dispatcher = await start(first)
        for number in range(5):
            await dispatcher.wake(thread(number))
        await first.until(lambda: first.active.total() == SLOTS[LaneKind.THREAD])
        await dispatcher.drain()
        first.gate.set()
        await dispatcher.close()
        await start(second)
        await second.until(lambda: len(second.ended) == 2)
        assert Counter([*first.ended, *second.ended]) == Counter(thread(number) for number in range(5))

    async def test_two_nodes_never_serve_one_lane_at_once(self, start: Start) -> None:
        service = LaneService()  # shared, so that it sees both
        nodes = [await start(service), await start(service)]
        for turn in range(30):
            await nodes[turn % 2].wake(thread(turn % 3))
        await service.until(lambda: {thread(0), thread(1), thread(2)} <= set(service.ended))
        assert service.most_per_lane == 1

    @pytest.fixture
    async def wire(self, conninfo: str) -> AsyncIterator[Cable]:
        """What :meth:`through` goes through."""
        server = urlsplit(conninfo)
        assert server.hostname is not None
        async with cable(server.hostname, server.port or 5432) as wire:
            yield wire

    @pytest.fixture
    async def wired(self, conninfo: str, wire: Cable, service: LaneService) -> AsyncIterator[Dispatcher]:
        """A node behind the cable that hears of new jobs, or not at all."""
        server = urlsplit(conninfo)
        node = PostgresDispatcher(
            urlunsplit(server._replace(netloc=f"{server.username}@127.0.0.1:{wire.port}")), SLOTS
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(postgres, "POLL_SECONDS", 3600.0)
            await node.start(service)
            await node.wake(thread(0))
            await service.until(lambda: len(service.ended) == 1)
            await wire.until(lambda: wire.carried.count(b"LISTEN") == LISTENERS)
            yield node
            service.gate.set()
            wire.release()
            await node.close()

    @pytest.fixture
    async def waker(self, conninfo: str) -> AsyncIterator[Dispatcher]:
        """Wakes lanes and serves none."""
        waker = PostgresDispatcher(conninfo, {})
        await waker.start(LaneService())
        yield waker
        await waker.close()

    @pytest.fixture
    def service(self) -> LaneService:
        """Serves the lanes of the node behind the cable."""
        return LaneService()

    @pytest.mark.usefixtures("wired")
    async def test_goes_on_after_the_database_was_away(
        self, wire: Cable, waker: Dispatcher, service: LaneService
    ) -> None:
        wire.pull()
        await wire.until(lambda: wire.refused >= LISTENERS)
        wire.plug()
        await waker.wake(IDLE)
        await service.until(lambda: IDLE in service.ended)

    @pytest.mark.usefixtures("wired")
    async def test_hears_of_a_job_that_comes_while_it_looks_for_one(
        self, wire: Cable, waker: Dispatcher, service: LaneService
    ) -> None:
        busy, other = thread(1), thread(2)
        for _ in range(ROUNDS):  # now and then what is held is not the search itself
            service.gate.clear()
            service.ended.clear()
            await waker.wake(busy)
            await service.until(lambda: service.active[busy] == 1)
            wire.hold()
            await waker.wake(busy)  # it looks, and must not take that while the lane is being served
            await wire.until(lambda: wire.held > 0)
            heard = wire.notified
            await waker.wake(other)
            await wire.until(lambda heard=heard: wire.notified > heard)
            for _ in range(50):
                await asyncio.sleep(0)
            wire.release()
            await service.until(lambda: service.active[other] == 1)
            service.gate.set()
            await service.until(lambda: len(service.ended) == 3)

    async def test_takes_over_the_lane_of_a_killed_node_within_15_seconds(
        self, start: Start, conninfo: str
    ) -> None:
        dead = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.engine.lane_worker", conninfo, stdout=asyncio.subprocess.PIPE
        )
        assert dead.stdout is not None
        try:
            assert await dead.stdout.readline() == b"ready\n"
            waker = PostgresDispatcher(conninfo, {})  # wakes and serves nothing
            await waker.start(LaneService())
            await waker.wake(thread(1))
            assert await dead.stdout.readline() == b"thread:t1\n"
            await waker.wake(thread(1))  # one more waits behind the lock of the one that dies
            await waker.close()
        finally:
            dead.kill()
            await dead.wait()
        service = LaneService()
        await start(service)
        await service.until(lambda: service.ended == [thread(1)], TAKE_OVER_SECONDS)
