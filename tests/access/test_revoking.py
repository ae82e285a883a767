"""Shutting somebody out takes effect at once, also on what waits and on what runs."""

import pytest
from sqlmodel import select

from bot.store.tables import Grant, Inbound, Run
from tests.access.conftest import ADMIN, OWNER, code_in
from tests.emulators.openai import Fault, OpenAIEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.engine.ledger import eventually, rows
from tests.engine.people import Person
from tests.hart import Site, hart_on


async def let_in(person: Person, by: Person) -> None:
    """Have somebody write, be given a code, and be let in."""
    heard = len(by.got())
    person.says("hello")
    code = code_in((await person.hears(1))[0])
    by.says(f"/pair approve {code}")
    await by.hears(heard + 1)
    await person.hears(2)


async def test_the_next_message_is_a_strangers_again(house: Site, ada: Person, owner: Person) -> None:
    async with hart_on(house) as hart:
        await let_in(ada, owner)
        owner.says("/pair revoke 7")
        assert (await owner.hears(2))[1] == "7 (Ada) on telegram: no longer let in."
        ada.says("hello")
        owner.says("/pair revoke 7")
        assert (await owner.hears(3))[2] == "Nobody with that id was let in by a code."
        assert await rows(hart, Grant) == []
        assert await rows(hart, Run) == []
    assert len(ada.got()) == 2, "they were told how to get in within the hour"


async def test_what_they_have_running_is_stopped_and_what_waits_is_never_begun(
    house: Site, openai: OpenAIEmulator, ada: Person, owner: Person
) -> None:
    async with hart_on(house) as hart:
        await let_in(ada, owner)
        openai.fail(Fault.hang())
        ada.says("something long")
        await openai.wait_for(lambda: len(openai.requests) == 1, timeout=30)
        for waiting in ("and this", "and that"):
            ada.says(waiting)

        async def stored() -> bool:
            return len([row for row in await rows(hart, Inbound) if row.kind == "message"]) == 3

        await eventually(stored)
        owner.says("/pair revoke 7")
        await owner.hears(2)

        async def closed() -> bool:
            return all(row.done_at for row in await rows(hart, Inbound))

        await eventually(closed)
        runs = await rows(hart, Run)
    assert len(openai.requests) == 1
    assert openai.disconnects == 1
    assert sorted((run.state, run.error) for run in runs if run.error) == [
        ("stopped", "no access any more")
    ] * len([run for run in runs if run.error])
    assert {run.state for run in runs} == {"stopped"}
    assert all(text in ("Stopped.",) for text in [sent.text for sent in ada.got()][2:])


async def test_a_command_that_waits_is_not_carried_out(
    house: Site, telegram: TelegramEmulator, openai: OpenAIEmulator, ada: Person
) -> None:
    """Access can also end by the configuration, between one start of Hart and the next."""
    house.use_telegram(telegram, access={"users": [7]})
    async with hart_on(house) as hart:
        ada.says("/status")
        await ada.hears(1)
        ada.says("a question")
        await ada.hears(2)

        def reopen(session) -> None:
            for row in session.exec(select(Inbound)):
                row.done_at = None

        await hart.database.run(reopen)
    house.use_telegram(telegram, access={"users": [8]})
    async with hart_on(house) as hart:

        async def closed() -> bool:
            return all(row.done_at for row in await rows(hart, Inbound))

        await eventually(closed)
    assert len(openai.requests) == 1
    assert len(ada.got()) == 2


async def test_an_admin_shuts_out_members_and_only_an_owner_shuts_out_admins(
    house: Site, ada: Person, bo: Person, owner: Person, admin: Person
) -> None:
    async with hart_on(house) as hart:
        await let_in(ada, owner)
        await let_in(bo, owner)

        def promote(session) -> None:
            session.get(Grant, ("telegram", "main", "8")).role = "admin"

        await hart.database.run(promote)
        admin.says("/pair revoke 8")
        admin.says("/pair revoke 7")
        refused, done = await admin.hears(2)
        bo.says("/pair list")
        assert "Let in by a code" in (await bo.hears(3))[2]
        owner.says("/pair revoke 8")
        await owner.hears(3)
        assert await rows(hart, Grant) == []
    assert refused == "Only an owner can shut out an admin or owner."
    assert done.startswith("7 (Ada) on telegram: no longer let in.")


@pytest.mark.parametrize("number", [OWNER, ADMIN])
async def test_who_is_listed_in_the_file_is_not_shut_out_from_the_chat(
    sqlite_house: Site, owner: Person, admin: Person, number: int
) -> None:
    async with hart_on(sqlite_house):
        owner.says(f"/pair revoke {number}")
        (answer,) = await owner.hears(1)
        admin.says("/pair list")
        assert "Waiting: nobody." in (await admin.hears(1))[0]
    assert answer == (
        "Nobody with that id was let in by a code. They stay listed in channels.yaml for telegram."
    )
