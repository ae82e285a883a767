"""Files that people send as one: an album is one turn, however its parts come in."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta

import pytest

from bot.app import Hart
from bot.messages import load_message
from bot.store.parts import CATCHING_UP, HELD_FOR, QUIET
from bot.store.tables import Inbound, Run, Thread
from tests.bot.messages import DIRECT
from tests.clock import ManualClock
from tests.emulators.openai import Call, ChatRequest, OpenAIEmulator, Reply
from tests.emulators.telegram import Chat, TelegramEmulator
from tests.engine.ledger import eventually, rows
from tests.engine.people import PATIENCE, Person
from tests.engine.test_attachments import UPLOADED
from tests.hart import Site, hart_on

FILES = {"a.txt": b"one", "b.txt": b"two", "c.txt": b"three"}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def group(telegram: TelegramEmulator) -> Chat:
    return telegram.group("Ops")


def contents(request: ChatRequest) -> Reply:
    """Read the files of the message and say what is in them."""
    results = request.tool_results()
    if results:
        return Reply(" | ".join(results))
    paths = [found[0] for found in UPLOADED.findall(request.last_user_text)]
    return Reply(calls=tuple(Call("read_file", {"path": path}) for path in paths)) if paths else Reply("none")


def asked(openai: OpenAIEmulator, number: int = 0) -> tuple[str, list[str]]:
    """Text and file names of a message, as the model was told in a request."""
    said = openai.accepted[number].said[-1]
    return said.split("\n\n<")[0].strip(), [path.rpartition("/")[2] for path, _, _ in UPLOADED.findall(said)]


def part(person: Person, album: str, name: str, chat: Chat | None = None, **message: object) -> None:
    person.telegram.send_document(
        chat or person.chat, person.user, name, FILES[name], media_group_id=album, **message
    )


async def all_closed(hart: Hart, count: int) -> Sequence[Inbound]:
    async def look() -> Sequence[Inbound]:
        found = await rows(hart, Inbound)
        return found if len(found) == count and all(row.done_at for row in found) else []

    return await eventually(look)


async def stored(hart: Hart, count: int) -> None:
    async def look() -> bool:
        return len(await rows(hart, Inbound)) == count

    await eventually(look)


def posted(telegram: TelegramEmulator, chat: Chat) -> list[str]:
    return [sent.text for sent in telegram.sent if sent.chat_id == chat.id]


async def test_an_album_is_one_turn_with_files_and_captions_in_order(
    open_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
) -> None:
    openai.responder = contents
    async with hart_on(open_site) as hart:
        telegram.send_album(ada.chat, ada.user, FILES, {"a.txt": "the first", "c.txt": "the last"})
        ada.says("and this")
        assert await ada.hears(2) == ["one | two | three", "none"]
        await all_closed(hart, 4)
        assert [run.state for run in await rows(hart, Run)] == ["done", "done"]
    text, names = asked(openai)
    assert text.startswith("the first\n\nthe last")
    assert names == ["a.txt", "b.txt", "c.txt"]


async def test_photos_of_an_album_are_one_turn_too(
    sqlite_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
) -> None:
    openai.responder = lambda request: Reply(str(len(UPLOADED.findall(request.last_user_text))))
    async with hart_on(sqlite_site):
        album = telegram.new_album()
        for _ in range(3):
            telegram.send_photo(ada.chat, ada.user, b"\xff\xd8\xff picture", media_group_id=album)
        assert await ada.hears(1) == ["3"]


async def test_a_restart_between_parts_leaves_one_turn(
    open_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person, clock: ManualClock
) -> None:
    openai.responder = contents
    album = telegram.new_album()
    async with hart_on(open_site, clock) as hart:
        part(ada, album, "a.txt", caption="look")
        part(ada, album, "b.txt")
        await stored(hart, 2)
    clock.move(timedelta(minutes=10))
    async with hart_on(open_site, clock) as hart:
        part(ada, album, "c.txt")
        await stored(hart, 3)
        assert await rows(hart, Run) == []
        clock.move(QUIET)
        assert await ada.hears(1) == ["one | two | three"]
        await all_closed(hart, 3)
        assert len(await rows(hart, Run)) == 1


async def test_after_a_restart_an_album_waits_a_little_for_parts_that_may_not_exist(
    sqlite_site: Site, openai: OpenAIEmulator, ada: Person, clock: ManualClock
) -> None:
    openai.responder = contents
    async with hart_on(sqlite_site, clock) as hart:
        part(ada, ada.telegram.new_album(), "a.txt")
        await stored(hart, 1)
    clock.move(timedelta(minutes=10))
    async with hart_on(sqlite_site, clock):
        clock.move(CATCHING_UP)
        assert await ada.hears(1) == ["one"]


async def test_a_part_that_comes_again_changes_nothing(
    open_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
) -> None:
    openai.responder = contents
    telegram.ignored_acks = 2
    async with hart_on(open_site) as hart:
        sent = telegram.send_album(ada.chat, ada.user, FILES, {})
        assert await ada.hears(1) == ["one | two | three"]
        telegram.push_raw({"message": sent[1]})
        ada.says("next")
        assert await ada.hears(2) == ["one | two | three", "none"]
        assert len(await all_closed(hart, 4)) == 4


async def test_a_late_part_is_a_turn_of_its_own(
    open_site: Site, openai: OpenAIEmulator, ada: Person, clock: ManualClock
) -> None:
    openai.responder = contents
    album = ada.telegram.new_album()
    async with hart_on(open_site, clock) as hart:
        part(ada, album, "a.txt")
        part(ada, album, "b.txt")
        await stored(hart, 2)
        clock.move(QUIET)
        assert await ada.hears(1) == ["one | two"]
        part(ada, album, "c.txt")
        await stored(hart, 3)
        clock.move(QUIET)
        assert await ada.hears(2) == ["one | two", "three"]
        await all_closed(hart, 3)


async def test_a_second_attempt_has_the_same_parts(
    open_site: Site, openai: OpenAIEmulator, ada: Person, clock: ManualClock
) -> None:
    """And a part that came between the two is not lost."""
    openai.responder = lambda request: Reply(delay=PATIENCE)
    album = ada.telegram.new_album()
    async with hart_on(open_site, clock) as hart:
        part(ada, album, "a.txt")
        part(ada, album, "b.txt")
        await stored(hart, 2)
        clock.move(QUIET)

        async def begun() -> bool:
            return bool(openai.requests)

        await eventually(begun)
    openai.responder = contents
    part(ada, album, "c.txt")
    async with hart_on(open_site, clock) as hart:
        await stored(hart, 3)
        clock.move(CATCHING_UP)
        assert await ada.hears(2) == ["one | two", "three"]
        await all_closed(hart, 3)
        assert len(await rows(hart, Run)) == 2


async def test_stopping_an_album_stops_all_of_it(
    open_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person, clock: ManualClock
) -> None:
    async with hart_on(open_site, clock) as hart:
        telegram.send_album(ada.chat, ada.user, FILES, {})
        await stored(hart, 3)
        ada.says("/stop")
        await stored(hart, 4)
        clock.move(QUIET)
        await all_closed(hart, 4)
        assert [run.state for run in await rows(hart, Run)] == ["stopped"]
    assert openai.requests == []


async def test_in_a_group_any_caption_addresses_the_whole_album(
    open_site: Site,
    openai: OpenAIEmulator,
    telegram: TelegramEmulator,
    ada: Person,
    group: Chat,
    clock: ManualClock,
) -> None:
    openai.responder = contents
    async with hart_on(open_site, clock) as hart:
        telegram.send_album(group, ada.user, FILES, {"b.txt": f"@{telegram.bot.username} read these"})
        await stored(hart, 3)
        assert [row.kind for row in await rows(hart, Inbound)] == ["held", "message", "message"]
        clock.move(QUIET)
        (answer,) = await telegram.wait_for_sent(1, PATIENCE)
        assert answer.text == "one | two | three"
        closed = await all_closed(hart, 3)
        assert {row.kind for row in closed} == {"message"}
        assert len({row.thread_id for row in closed}) == 1
    text, names = asked(openai)
    assert text.startswith("read these")
    assert names == ["a.txt", "b.txt", "c.txt"]


async def test_parts_before_a_late_caption_wait_for_it(
    open_site: Site,
    openai: OpenAIEmulator,
    telegram: TelegramEmulator,
    ada: Person,
    group: Chat,
    clock: ManualClock,
) -> None:
    openai.responder = contents
    album = telegram.new_album()
    async with hart_on(open_site, clock) as hart:
        part(ada, album, "a.txt", group)
        await stored(hart, 1)
    clock.move(HELD_FOR / 2)
    async with hart_on(open_site, clock) as hart:
        part(ada, album, "b.txt", group, caption=f"@{telegram.bot.username} read these")
        await stored(hart, 2)
        clock.move(QUIET)
        await telegram.wait_for_sent(1, PATIENCE)
        part(ada, album, "c.txt", group)
        await stored(hart, 3)
        clock.move(QUIET)
        await telegram.wait_for_sent(2, PATIENCE)
        assert posted(telegram, group) == ["one | two", "three"]
        await all_closed(hart, 3)


async def test_an_album_that_nobody_addressed_to_us_is_forgotten(
    open_site: Site,
    openai: OpenAIEmulator,
    telegram: TelegramEmulator,
    ada: Person,
    group: Chat,
    clock: ManualClock,
) -> None:
    async with hart_on(open_site, clock) as hart:
        telegram.send_album(group, ada.user, FILES, {"a.txt": "for you all"})
        telegram.say(group, ada.user, f"@{telegram.bot.username} hello")
        await telegram.wait_for_sent(1, PATIENCE)
        assert [row.kind for row in await rows(hart, Inbound)] == ["held"] * 3 + ["message"]
        clock.move(HELD_FOR)
        await hart.engine.sweep()
        assert len(await rows(hart, Inbound)) == 4
        clock.move(timedelta(seconds=1))
        await hart.engine.sweep()
        assert [row.kind for row in await rows(hart, Inbound)] == ["message"]
        assert len(await rows(hart, Run)) == 1
    assert asked(openai) == ("hello", [])


async def test_held_parts_are_kept_while_the_album_waits_for_its_turn(
    open_site: Site,
    openai: OpenAIEmulator,
    telegram: TelegramEmulator,
    ada: Person,
    group: Chat,
    clock: ManualClock,
) -> None:
    openai.responder = contents
    async with hart_on(open_site, clock) as hart:
        telegram.send_album(group, ada.user, FILES, {"c.txt": f"@{telegram.bot.username} read these"})
        await stored(hart, 3)
    clock.move(10 * HELD_FOR)
    async with hart_on(open_site, clock) as hart:
        assert len(await rows(hart, Inbound)) == 3
        clock.move(CATCHING_UP)
        await telegram.wait_for_sent(1, PATIENCE)
        assert posted(telegram, group) == ["one | two | three"]


@pytest.mark.parametrize(
    "access", [{"group": "allowlist"}, {"group": "off", "dm": "pairing"}], ids=["not listed", "off"]
)
async def test_nothing_is_held_where_nobody_is_heard(
    sqlite_site: Site, telegram: TelegramEmulator, ada: Person, group: Chat, access: dict[str, object]
) -> None:
    sqlite_site.use_telegram(telegram, access=access)
    async with hart_on(sqlite_site) as hart:
        telegram.send_album(group, ada.user, FILES, {"a.txt": "for you all"})
        await telegram.wait_until_heard()
        assert await rows(hart, Inbound) == []
        assert await rows(hart, Thread) == []
    assert telegram.sent == []


def test_a_message_that_an_older_version_stored_is_read() -> None:
    old = {**asdict(DIRECT), "chat_kind": "direct", "attachments": []}
    del old["part_of"]

    assert load_message(json.dumps(old)) == DIRECT
