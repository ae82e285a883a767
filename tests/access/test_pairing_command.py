"""``hart pairing``, which joins the Hart that runs, or starts one for as long as it takes."""

import json

import pytest

from tests.access.conftest import code_in
from tests.cli.process import run_hart, service
from tests.emulators.telegram import TelegramEmulator
from tests.engine.people import Person
from tests.hart import Site


@pytest.fixture
def site(tmp_path, telegram: TelegramEmulator) -> Site:
    """Nobody is known yet, not even an owner."""
    site = Site(tmp_path)
    site.use_telegram(telegram, access={})
    return site


async def test_the_first_owner_gets_in_by_the_command_and_lets_others_in_from_the_chat(
    site: Site, ada: Person, bo: Person
) -> None:
    async with service(site):
        ada.says("hello")
        code = code_in((await ada.hears(1))[0])
        listed = await run_hart(site, "pairing", "list")
        approved = await run_hart(site, "pairing", "approve", code, "--role", "owner")
        await ada.hears(2)
        bo.says("hello")
        ada.says(f"/pair approve {code_in((await bo.hears(1))[0])}")
        assert (await ada.hears(3))[2] == "8 (Bo) on telegram is in, as member."
        everybody = json.loads((await run_hart(site, "pairing", "list", "--json")).out)
    assert listed.out.splitlines()[0] == "Waiting:"
    assert listed.out.splitlines()[1].startswith("  7 (Ada) on telegram since ")
    assert listed.out.splitlines()[2] == "Let in by a code: nobody"
    assert code not in listed.out
    assert (approved.code, approved.out) == (0, "7 (Ada) on telegram is in, as owner.\n")
    assert [(one["id"], one["role"], one["by"]) for one in everybody["let_in"]] == [
        ("7", "owner", "operator"),
        ("8", "member", "telegram/main/7"),
    ]


async def test_without_an_owner_approving_a_member_says_how_to_get_one(site: Site, ada: Person) -> None:
    async with service(site):
        ada.says("hello")
        code = code_in((await ada.hears(1))[0])
        approved = await run_hart(site, "pairing", "approve", code)
    assert approved.code == 0
    assert approved.out.startswith("7 (Ada) on telegram is in, as member. telegram has no owner yet")
    assert "--role owner" in approved.out


async def test_it_works_while_no_hart_runs_and_shuts_out_as_well(site: Site, ada: Person) -> None:
    async with service(site):
        ada.says("hello")
        code = code_in((await ada.hears(1))[0])
    approved = await run_hart(site, "pairing", "approve", code)
    welcomed = await ada.hears(2)
    revoked = await run_hart(site, "pairing", "revoke", "7")
    again = await run_hart(site, "pairing", "revoke", "7")
    assert (approved.code, revoked.code, again.code) == (0, 0, 1)
    assert welcomed[1].startswith("You are in.")
    assert revoked.out == "7 (Ada) on telegram: no longer let in.\n"


async def test_a_stranger_who_waits_can_be_rejected(site: Site, ada: Person) -> None:
    async with service(site):
        ada.says("hello")
        await ada.hears(1)
        rejected = await run_hart(site, "pairing", "reject", "7")
        again = await run_hart(site, "pairing", "reject", "7")
        listed = await run_hart(site, "pairing", "list")
    assert (rejected.code, again.code) == (0, 1)
    assert rejected.out == "7 (Ada) on telegram waits no more. They are not told, and may ask again.\n"
    assert again.out == "Nobody with that id waits.\n"
    assert listed.out.splitlines()[0] == "Waiting: nobody"


async def test_a_wrong_code_is_exit_code_1(site: Site) -> None:
    outcome = await run_hart(site, "pairing", "approve", "ABCD-EFGH")
    assert outcome.code == 1
    assert outcome.out.startswith("That code is not good")
