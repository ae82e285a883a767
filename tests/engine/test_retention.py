"""Old things are deleted, and nothing that is open."""

import os
from datetime import timedelta

import pytest

from bot.app import Hart
from bot.archive import Archive
from bot.clock import Clock
from bot.config.retention import RetentionConfig
from bot.retention import Retention, Swept
from bot.store.states import DeliveryState
from bot.store.tables import Delivery, Inbound, Run
from tests.clock import ManualClock
from tests.emulators.openai import Call, ChatRequest, Fault, OpenAIEmulator, Reply
from tests.emulators.telegram import TelegramEmulator
from tests.engine.ledger import eventually, rows
from tests.engine.people import Person
from tests.hart import Site, hart_on

NOTE = "/mnt/user-data/outputs/note.md"


@pytest.fixture
def ada(telegram: TelegramEmulator) -> Person:
    return Person.new(telegram, 7, "Ada")


@pytest.fixture
def bob(telegram: TelegramEmulator) -> Person:
    return Person.new(telegram, 8, "Bob")


def retention(hart: Hart, clock: Clock, **days: int) -> Retention:
    archive = Archive(hart.database, hart.runtime, hart.home)
    return Retention(RetentionConfig(**days), hart.database, archive, hart.home, clock)


async def sent(hart: Hart, count: int) -> None:
    """Wait until it is recorded that so many messages were sent."""

    async def recorded() -> bool:
        return [row.state for row in await rows(hart, Delivery)].count(DeliveryState.SENT) >= count

    await eventually(recorded)


def writes_a_note(request: ChatRequest) -> Reply:
    done = len(request.tool_results())
    if request.last_user_text != "note" or done == 2:
        return Reply(f"answer to: {request.last_user_text}")
    if done == 0:
        return Reply(calls=(Call("write_file", {"path": NOTE, "content": "milk"}),))
    return Reply(calls=(Call("present_files", {"paths": [NOTE]}),))


async def test_old_messages_go_and_newer_ones_stay(open_site: Site, ada: Person) -> None:
    clock = ManualClock()
    async with hart_on(open_site, clock) as hart:
        ada.says("old")
        await ada.hears(1)
        ada.says("/help")
        await ada.hears(2)
        clock.move(timedelta(days=8))
        ada.says("new")
        await ada.hears(3)
        await sent(hart, 3)
        clock.move(timedelta(days=3))
        sweep = retention(hart, clock, messages_days=10)
        assert await sweep.sweep() == Swept(messages=2)
        assert await sweep.sweep() == Swept()
        left = [await rows(hart, table) for table in (Inbound, Run, Delivery)]
        ada.says("and now?")
        answers = await ada.hears(4)
    assert [[getattr(row, "text", getattr(row, "answer", "")) for row in some] for some in left] == [
        ["new"],
        ["answer to: new"],
        ["answer to: new"],
    ]
    assert answers[-1] == "answer to: and now?"


async def test_what_is_open_is_kept_however_old_it_is(
    open_site: Site, ada: Person, bob: Person, openai: OpenAIEmulator
) -> None:
    clock = ManualClock()
    openai.fail(Fault.hang())
    async with hart_on(open_site, clock) as hart:
        ada.says("slow")
        await openai.wait_for(lambda: len(openai.requests) == 1)
        ada.says("behind it")
        bob.says("done")
        await bob.hears(1)
        await sent(hart, 1)
        clock.move(timedelta(days=100))
        swept = await retention(hart, clock, messages_days=10, threads_days=10, files_days=10).sweep()
        left = [row.text for row in await rows(hart, Inbound)]
    assert swept == Swept(threads=1, messages=1)
    assert sorted(left) == ["behind it", "slow"]


async def test_silent_conversations_go_whole(open_site: Site, ada: Person, openai: OpenAIEmulator) -> None:
    openai.responder = writes_a_note
    clock = ManualClock()
    async with hart_on(open_site, clock) as hart:
        ada.says("note")
        await ada.hears(2)
        await sent(hart, 2)
        (run,) = await rows(hart, Run)
        clock.move(timedelta(days=11))
        swept = await retention(hart, clock, threads_days=10).sweep()
        assert swept == Swept(threads=1)
        assert await rows(hart, Run) == []
        assert not (open_site.home / "threads" / run.thread_id).exists()
        assert not (open_site.home / "outbox" / run.id).exists()
        assert (await retention(hart, clock, threads_days=10).sweep()).threads == 0
        ada.says("hello")
        await ada.hears(3)
        assert len(openai.requests[-1].messages) == 2


async def test_old_files_go_and_newer_ones_and_links_stay(
    open_site: Site, ada: Person, openai: OpenAIEmulator
) -> None:
    openai.responder = writes_a_note
    clock = ManualClock()
    async with hart_on(open_site, clock) as hart:
        ada.says("note")
        await ada.hears(2)
        await sent(hart, 2)
        (run,) = await rows(hart, Run)
        folder = hart.home.thread_files(run.thread_id).root / "workspace"
        outside = open_site.root / "outside.txt"
        for name in ("old.txt", "new.txt"):
            (folder / name).write_text(name)
        outside.write_text("not ours")
        (folder / "link.txt").symlink_to(outside)
        (folder / "folder").symlink_to(open_site.root)
        long_ago = (clock() - timedelta(days=20)).timestamp()
        today = clock().timestamp()
        for path in open_site.home.rglob("*.md"):
            os.utime(path, (today, today))
        os.utime(folder / "new.txt", (today, today))
        for path in (folder / "old.txt", outside):
            os.utime(path, (long_ago, long_ago))
        swept = await retention(hart, clock, files_days=10).sweep()
        assert swept == Swept(files=1)
        assert sorted(path.name for path in folder.iterdir()) == ["folder", "link.txt", "new.txt"]
    assert outside.read_text() == "not ours"


async def test_it_is_off_unless_configured(open_site: Site, ada: Person) -> None:
    clock = ManualClock()
    async with hart_on(open_site, clock) as hart:
        ada.says("old")
        await ada.hears(1)
        await sent(hart, 1)
        clock.move(timedelta(days=10_000))
        assert await retention(hart, clock).sweep() == Swept()
        assert len(await rows(hart, Inbound)) == 1
    assert not RetentionConfig().any


async def test_a_start_sweeps(open_site: Site, ada: Person) -> None:
    clock = ManualClock()
    async with hart_on(open_site, clock) as hart:
        ada.says("old")
        await ada.hears(1)
        await sent(hart, 1)
    clock.move(timedelta(days=11))
    open_site.config["retention"] = {"threads_days": 10}
    async with hart_on(open_site, clock) as hart:

        async def gone() -> bool:
            return not await rows(hart, Run)

        await eventually(gone)
