"""What the proxy does with what comes in."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text
from sqlmodel import Session

from bot.app import Hart, Parts
from bot.proxy import MAX_CHARACTERS
from bot.store.tables import Delivery, Inbound, Run, Thread
from channels.errors import InboxUnavailableError
from channels.messages import Address, Attachment, ChatKind, InboundMessage, Sender
from tests.clock import ManualClock
from tests.emulators.openai import OpenAIEmulator, Reply
from tests.emulators.telegram import TelegramEmulator
from tests.engine.ledger import eventually, rows
from tests.engine.people import Person
from tests.hart import Site, hart_on
from tests.storage import POSTGRES

DEAF = Parts(platforms=False, schedule=False)
"""Nothing is heard but what the test puts into the inbox."""

HELLO = InboundMessage(
    address=Address("web", "main", "desk"),
    chat_kind=ChatKind.DIRECT,
    sender=Sender("local"),
    message_id="m1",
    dedupe_key="web:desk:m1",
    text="hello",
)


async def all_closed(hart: Hart) -> list[Inbound]:
    """Wait until nothing is open any more, and give everything that came in."""

    async def look() -> list[Inbound]:
        found = list(await rows(hart, Inbound))
        return found if found and all(row.done_at for row in found) else []

    return await eventually(look)


class TestRedelivery:
    async def test_the_same_update_three_times_is_one_run(
        self, open_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
    ) -> None:
        message = {
            "message_id": 5,
            "from": ada.user.as_json(),
            "chat": ada.chat.as_json(),
            "date": 1_790_000_000,
            "text": "once",
        }
        async with hart_on(open_site) as hart:
            for _ in range(3):
                telegram.push_raw({"message": message})
            ada.says("after")
            heard = await ada.hears(2)
            assert len(await rows(hart, Run)) == 2
        assert heard == ["answer to: once", "answer to: after"]
        assert len(openai.requests) == 2

    async def test_the_same_key_at_the_same_time_is_one_row(self, open_site: Site) -> None:
        async with hart_on(open_site, parts=DEAF) as hart:
            await asyncio.gather(*(hart.inbox.accept(HELLO) for _ in range(5)))
            assert len(await all_closed(hart)) == 1
            assert len(await rows(hart, Run)) == 1

    async def test_new_told_twice_opens_one_thread(self, open_site: Site) -> None:
        async with hart_on(open_site, parts=DEAF) as hart:
            await hart.inbox.accept(HELLO)
            new = replace(HELLO, text="/new and more", message_id="m2", dedupe_key="web:desk:m2")
            await asyncio.gather(*(hart.inbox.accept(new) for _ in range(3)))
            await all_closed(hart)
            assert [thread.generation for thread in sorted(await rows(hart, Thread), key=_generation)] == [
                1,
                2,
            ]


def _generation(thread: Thread) -> int:
    return thread.generation


class TestThreads:
    async def test_two_simultaneous_first_messages_make_one_thread(self, open_site: Site) -> None:
        async with hart_on(open_site, parts=DEAF) as hart:
            messages = [
                replace(HELLO, message_id=f"m{number}", dedupe_key=f"k{number}") for number in range(6)
            ]
            await asyncio.gather(*(hart.inbox.accept(message) for message in messages))
            inbound = await all_closed(hart)
            (thread,) = await rows(hart, Thread)
        assert {row.thread_id for row in inbound} == {thread.id}

    async def test_also_when_they_reach_two_nodes(
        self, postgres_url: str, openai: OpenAIEmulator, tmp_path: Path
    ) -> None:
        async with AsyncExitStack() as stack:
            nodes = []
            for name in ("one", "two"):
                (tmp_path / name).mkdir()
                site = Site(tmp_path / name, postgres_url)
                site.use_openai(openai)
                nodes.append(await stack.enter_async_context(hart_on(site, parts=DEAF)))
            messages = [
                replace(HELLO, message_id=f"m{number}", dedupe_key=f"k{number}") for number in range(8)
            ]
            await asyncio.gather(
                *(nodes[number % 2].inbox.accept(message) for number, message in enumerate(messages))
            )
            inbound = await all_closed(nodes[0])
            (thread,) = await rows(nodes[0], Thread)
            runs = await rows(nodes[0], Run)
        assert {row.thread_id for row in inbound} == {thread.id}
        assert sorted(run.inbound_id for run in runs) == sorted(row.id or 0 for row in inbound)
        assert {run.state for run in runs} == {"done"}

    async def test_a_message_right_behind_new_lands_in_the_new_thread(
        self, open_site: Site, openai: OpenAIEmulator, ada: Person
    ) -> None:
        async with hart_on(open_site) as hart:
            ada.says("first")
            await ada.hears(1)
            ada.says("/new")
            ada.says("second")
            await ada.hears(3)
            old, new = sorted(await rows(hart, Thread), key=_generation)
            remembered = await hart.runtime.history(old.id)
            inbound = await rows(hart, Inbound)
        assert (old.key, old.generation + 1) == (new.key, new.generation)
        assert [said.text for said in remembered] == ["first", "answer to: first"]
        assert [row.thread_id for row in inbound] == [old.id, new.id, new.id]
        assert "first" not in str(openai.accepted[-1].messages)

    async def test_new_with_text_begins_the_new_thread_with_it(
        self, open_site: Site, openai: OpenAIEmulator, ada: Person
    ) -> None:
        async with hart_on(open_site):
            ada.says("first")
            await ada.hears(1)
            ada.says("/new what is the plan?")
            heard = await ada.hears(3)
        assert "answer to: what is the plan?" in heard
        assert any(text.startswith("Started a new conversation") for text in heard)
        assert openai.accepted[-1].said == ["what is the plan?"]


class TestStrangers:
    async def test_get_one_refusal_an_hour_and_nothing_of_their_text_is_kept(
        self, open_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
    ) -> None:
        clock = ManualClock()
        open_site.use_telegram(telegram, access={"users": [8]})
        friend = Person.new(telegram, 8, "Bo")
        async with hart_on(open_site, clock) as hart:
            ada.says("my secret plan")
            (refusal,) = await ada.hears(1)
            clock.move(timedelta(minutes=59))
            ada.says("my secret plan B")
            friend.says("in between")
            await friend.hears(1)
            assert len(ada.got()) == 1
            clock.move(timedelta(minutes=1, seconds=1))
            ada.says("/help secret")
            await ada.hears(2)
            kept = str([await rows(hart, table) for table in (Inbound, Run, Thread, Delivery)])
        assert "id is 7" in refusal
        assert "secret" not in kept
        assert "secret" not in str([request.body for request in openai.requests])

    async def test_talk_that_is_not_meant_for_the_bot_leaves_no_row(
        self, open_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
    ) -> None:
        group = telegram.group("Team")
        async with hart_on(open_site) as hart:
            telegram.say(group, ada.user, "lunch?")
            telegram.say(group, ada.user, "@hart_team_bot and you?")
            await telegram.wait_for_sent(1, timeout=30)
            inbound = await rows(hart, Inbound)
        assert [row.text for row in inbound] == ["and you?"]
        assert "lunch" not in str([request.body for request in openai.requests])


class TestHostileText:
    @pytest.mark.parametrize(
        "hostile",
        ["nul \x00 byte", "half \ud83d pair", "\udfff\x00\ud800 all of it"],
        ids=["nul", "surrogate", "both"],
    )
    async def test_what_no_database_takes_is_replaced_everywhere(self, open_site: Site, hostile: str) -> None:
        message = replace(
            HELLO,
            text=hostile,
            message_id=hostile,
            dedupe_key=f"key {hostile}",
            sender=Sender(hostile, hostile),
            reply_to=hostile,
            address=Address("web", "main", hostile, hostile),
            attachments=(Attachment(hostile, hostile, 3, hostile),),
        )
        async with hart_on(open_site, parts=DEAF) as hart:
            await hart.inbox.accept(message)
            await hart.inbox.accept(message)
            (row,) = await all_closed(hart)
        assert "\x00" not in row.text
        assert row.text.encode()
        assert row.text.split()[-1] == hostile.split()[-1].replace("\x00", "\ufffd")

    async def test_what_a_channel_could_not_read_is_set_aside_once(self, open_site: Site) -> None:
        async with hart_on(open_site, parts=DEAF) as hart:
            for _ in range(2):
                await hart.inbox.reject(HELLO.address, "broken \x00", "{\x00\ud800" * 9_000, "no \x00 JSON")
            (row,) = await rows(hart, Inbound)
        assert (row.kind, row.note) == ("rejected", "no \ufffd JSON")
        assert len(row.body) <= 16_000
        assert row.done_at is not None

    async def test_a_text_that_is_too_long_is_refused_with_a_word(
        self, open_site: Site, openai: OpenAIEmulator
    ) -> None:
        openai.responder = lambda request: Reply("short")
        async with hart_on(open_site, parts=DEAF) as hart:
            long = replace(HELLO, text="x" * (MAX_CHARACTERS + 1))
            await hart.inbox.accept(long)
            await hart.inbox.accept(long)
            await hart.inbox.accept(
                replace(HELLO, text="y" * MAX_CHARACTERS, dedupe_key="fits", message_id="m2")
            )
            await all_closed(hart)
            said = [delivery.text or "" for delivery in await rows(hart, Delivery)]
        assert [text.startswith("That message is too long") for text in said] == [True, False]
        assert len(openai.requests) == 1


class TestAStoreThatFails:
    async def test_is_told_to_the_channel_and_passes(self, open_site: Site) -> None:
        async with hart_on(open_site, parts=DEAF) as hart:
            async with _broken_store(hart, open_site):
                with pytest.raises(InboxUnavailableError):
                    await hart.inbox.accept(HELLO)
                with pytest.raises(InboxUnavailableError):
                    await hart.inbox.reject(HELLO.address, "k", "raw", "why")
            await hart.inbox.accept(HELLO)
            assert [row.text for row in await all_closed(hart)] == ["hello"]

    async def test_keeps_telegram_from_forgetting_the_message(
        self, open_site: Site, telegram: TelegramEmulator, ada: Person, caplog: pytest.LogCaptureFixture
    ) -> None:
        async with hart_on(open_site) as hart:
            ada.says("before")
            await eventually(lambda: _all_sent(hart))
            async with _broken_store(hart, open_site):
                ada.says("during")

                async def tried() -> bool:
                    return "a message could not be stored" in caplog.text

                await eventually(tried)
                assert telegram.updates, "not acknowledged"
            assert await ada.hears(2) == ["answer to: before", "answer to: during"]


async def _all_sent(hart: Hart) -> bool:
    deliveries = await rows(hart, Delivery)
    return bool(deliveries) and all(delivery.state == "sent" for delivery in deliveries)


@asynccontextmanager
async def _broken_store(hart: Hart, site: Site) -> AsyncIterator[None]:
    """A SQLite file without its table, or a Postgres that lets nobody in."""
    if site.database_url is None:
        await hart.database.run(_rename("inbound", "elsewhere"))
        try:
            yield
        finally:
            await hart.database.run(_rename("elsewhere", "inbound"))
        return
    name = site.database_url.rsplit("/", 1)[-1]
    async with await psycopg.AsyncConnection.connect(POSTGRES, autocommit=True) as admin:
        await admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        try:
            await admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
            )
            yield
        finally:
            await admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")


def _rename(old: str, new: str):
    def work(session: Session) -> None:
        session.execute(text(f"ALTER TABLE {old} RENAME TO {new}"))

    return work
