"""Which command needs which role, and that groups make members of everybody."""

import pytest

from bot.errors import OperatorError
from bot.store.tables import Inbound, Run
from tests.access.conftest import ADMIN, OWNER
from tests.cli.process import run_hart
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.engine.ledger import eventually, rows
from tests.engine.people import Person
from tests.hart import Site, hart_on, local_client


@pytest.fixture
def ruled(sqlite_house: Site, telegram: TelegramEmulator) -> Site:
    """A house in which only admins may stop, and only owners may change the model."""
    commands = {"stop": "admin", "models": "owner"}
    sqlite_house.use_telegram(
        telegram, access={"owners": [OWNER], "admins": [ADMIN], "users": [7], "commands": commands}
    )
    return sqlite_house


async def test_a_command_above_ones_role_is_refused_and_recorded(
    ruled: Site, ada: Person, admin: Person, owner: Person
) -> None:
    async with hart_on(ruled) as hart:
        ada.says("/stop")
        ada.says("/models other-model")
        admin.says("/models other-model")
        admin.says("/stop")
        owner.says("/models other-model")
        refused = await ada.hears(2)
        assert await admin.hears(2) == ["/models is for owners.", "Nothing is running here."]
        assert (await owner.hears(1))[0].startswith("This conversation now uses")
        denied = [row for row in await rows(hart, Inbound) if row.kind == "denied"]
    assert refused == ["/stop is for admins.", "/models is for owners."]
    assert [(row.sender_id, row.note, row.body) for row in denied] == [
        ("7", "/stop as member", ""),
        ("7", "/models as member", ""),
        ("2", "/models as admin", ""),
    ]


async def test_help_shows_what_one_may_use(ruled: Site, ada: Person, owner: Person) -> None:
    async with hart_on(ruled):
        ada.says("/help")
        owner.says("/help")
        (member,), (everything,) = await ada.hears(1), await owner.hears(1)
    hidden = ("/stop", "/models", "/pair")
    assert [command in member for command in hidden] == [False] * 3
    assert [command in everything for command in hidden] == [True] * 3


async def test_new_that_is_refused_opens_no_conversation_and_runs_nothing(
    sqlite_house: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
) -> None:
    sqlite_house.use_telegram(telegram, access={"users": [7], "commands": {"new": "admin"}})
    async with hart_on(sqlite_house) as hart:
        ada.says("/new and do this")
        assert await ada.hears(1) == ["/new is for admins."]
        assert await rows(hart, Run) == []
    assert openai.requests == []


async def test_everybody_in_a_group_that_is_let_in_is_a_member_and_no_more(
    sqlite_house: Site, telegram: TelegramEmulator, ada: Person, admin: Person
) -> None:
    group = telegram.group("Team")
    sqlite_house.use_telegram(telegram, access={"admins": [ADMIN], "groups": [group.id]})
    async with hart_on(sqlite_house):
        telegram.say(group, ada.user, "@hart_team_bot hello")
        telegram.say(group, ada.user, "/pair@hart_team_bot list")
        telegram.say(group, admin.user, "/pair@hart_team_bot list")
        sent = await telegram.wait_for_sent(3, timeout=30)
    texts = {one.text.splitlines()[0] for one in sent}
    assert texts == {"answer to: hello", "/pair is for admins.", "Waiting: nobody."}


@pytest.mark.parametrize("group_policy", [{"group": "off"}, {"groups": [-1]}])
async def test_a_group_that_is_not_let_in_gets_nothing_done_by_anybody(
    sqlite_house: Site,
    openai: OpenAIEmulator,
    telegram: TelegramEmulator,
    owner: Person,
    group_policy: dict[str, object],
) -> None:
    group = telegram.group("Elsewhere")
    sqlite_house.use_telegram(telegram, access={"owners": [OWNER], **group_policy})
    async with hart_on(sqlite_house) as hart:
        telegram.say(group, owner.user, "@hart_team_bot hello")
        telegram.say(group, owner.user, "/pair@hart_team_bot list")
        telegram.send_document(
            group, owner.user, "a.txt", b"x", caption="@hart_team_bot", caption_entities=[]
        )
        owner.says("still here")
        assert await owner.hears(1) == ["answer to: still here"]
        kinds = {row.kind for row in await rows(hart, Inbound)}
    assert len(openai.requests) == 1
    assert kinds <= {"message", "refused"}


async def test_whoever_sits_at_this_machine_is_an_owner(sqlite_house: Site, ada: Person) -> None:
    async with hart_on(sqlite_house) as hart, local_client(hart) as client:
        ada.says("hello")
        await ada.hears(1)
        await client.post("desk", "/pair list", "m1")

        async def answered() -> str | None:
            entries = (await client.history("desk", 50)).entries
            return next((entry.text for entry in entries if entry.role == "hart"), None)

        listed = await eventually(answered)
    assert "`7` (`Ada`) on telegram" in listed


async def test_a_role_for_a_command_that_does_not_exist_is_found_before_anything_starts(
    sqlite_house: Site, telegram: TelegramEmulator
) -> None:
    sqlite_house.use_telegram(telegram, access={"commands": {"modles": "owner"}})
    problem = (
        "channels.yaml: telegram/main: access.commands.modles: there is no such command; "
        'did you mean "models"?'
    )
    with pytest.raises(OperatorError) as found:
        async with hart_on(sqlite_house):
            pass
    assert str(found.value) == problem
    checked = await run_hart(sqlite_house, "config", "check")
    assert checked.code == 2
    assert problem in checked.err
