"""A stranger writes, gets a code, and is let in by somebody who may, and by nobody else."""

from datetime import timedelta

from sqlmodel import select

from bot.codes import ALPHABET
from bot.store.tables import Delivery, Grant, Inbound, Lockout, PairingRequest, Run, Thread
from tests.access.conftest import ADMIN, code_in
from tests.clock import ManualClock
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.telegram import DropAfter, TelegramEmulator, too_many
from tests.engine.ledger import eventually, rows
from tests.engine.people import Person
from tests.hart import Site, hart_on

EVERYTHING = (Delivery, Grant, Inbound, Lockout, PairingRequest, Run, Thread)


async def test_a_stranger_is_told_how_to_get_in_and_nothing_of_their_text_is_kept(
    house: Site, openai: OpenAIEmulator, ada: Person, caplog
) -> None:
    async with hart_on(house) as hart:
        ada.says("my secret plan")
        (told,) = await ada.hears(1)
        code = code_in(told)
        kept = str([await rows(hart, table) for table in EVERYTHING])
        (request,) = await rows(hart, PairingRequest)
    assert f"hart pairing approve {code}" in told
    assert f"/pair approve {code}" in told
    assert "id is 7" in told
    assert set(code) - {"-"} <= set(ALPHABET)
    assert "secret" not in kept
    assert (request.user_id, request.name) == ("7", "Ada")
    for spelling in (code, code.replace("-", "")):
        assert spelling not in kept, "the code is nowhere in the ledger"
        assert spelling not in caplog.text
    assert openai.requests == []


async def test_an_approved_stranger_is_told_and_heard_from_then_on(
    house: Site, ada: Person, admin: Person
) -> None:
    async with hart_on(house) as hart:
        ada.says("hello")
        code = code_in((await ada.hears(1))[0])
        admin.says("/pair list")
        admin.says(f"/pair approve {code.lower().replace('-', ' ')}")
        listed, approved = await admin.hears(2)
        await ada.hears(2)
        ada.says("hello again")
        heard = await ada.hears(3)
        (grant,) = await rows(hart, Grant)
        requests = await rows(hart, PairingRequest)
        commands = [row.text + row.body for row in await rows(hart, Inbound) if row.kind == "command"]
    assert "7 (Ada) on telegram, for 0 min" in listed
    assert approved == "7 (Ada) on telegram is in, as member."
    assert heard[1].startswith("You are in.")
    assert heard[2] == "answer to: hello again"
    assert (grant.channel, grant.account, grant.user_id, grant.role) == ("telegram", "main", "7", "member")
    assert grant.granted_by == f"telegram/main/{ADMIN}"
    assert requests == []
    assert "approve …" in commands[1]
    assert code.lower().replace("-", " ") not in str(commands)


async def test_a_code_is_good_once_and_only_for_its_hour(
    house: Site, clock: ManualClock, ada: Person, bo: Person, owner: Person
) -> None:
    async with hart_on(house, clock) as hart:
        ada.says("hello")
        code = code_in((await ada.hears(1))[0])
        owner.says(f"/pair approve {code}")
        owner.says(f"/pair approve {code}")
        _, again = await owner.hears(2)
        bo.says("hello")
        late = code_in((await bo.hears(1))[0])
        clock.move(timedelta(hours=1))
        owner.says(f"/pair approve {late}")
        owner.says("/pair list")
        *_, too_late, listed = await owner.hears(4)
        grants = await rows(hart, Grant)
    assert again.startswith("That code is not good")
    assert too_late.startswith("That code is not good")
    assert listed.startswith("Waiting: nobody.")
    assert [grant.user_id for grant in grants] == ["7"]


async def test_a_stranger_is_prompted_once_an_hour_and_then_with_another_code(
    house: Site, clock: ManualClock, ada: Person, owner: Person
) -> None:
    async with hart_on(house, clock) as hart:
        ada.says("one")
        first = code_in((await ada.hears(1))[0])
        clock.move(timedelta(minutes=59))
        ada.says("two")
        owner.says("in between")
        await owner.hears(1)
        assert len(ada.got()) == 1
        clock.move(timedelta(minutes=2))
        ada.says("three")
        second = code_in((await ada.hears(2))[1])
        assert len(await rows(hart, PairingRequest)) == 1
        owner.says(f"/pair approve {first}")
        owner.says(f"/pair approve {second}")
        *_, old, new = await owner.hears(3)
    assert first != second
    assert old.startswith("That code is not good")
    assert new.endswith("is in, as member.")


async def test_three_wait_on_an_account_and_the_next_one_takes_the_place_of_the_first(
    house: Site, telegram: TelegramEmulator, owner: Person
) -> None:
    strangers = [Person.new(telegram, 100 + number, f"S{number}") for number in range(4)]
    async with hart_on(house) as hart:
        told = []
        for stranger in strangers:
            stranger.says("let me in")
            told += await stranger.hears(1)
        waiting = {row.user_id for row in await rows(hart, PairingRequest)}
        owner.says(f"/pair approve {code_in(told[0])}")
        owner.says(f"/pair approve {code_in(told[3])}")
        first, last = await owner.hears(2)
    assert waiting == {"101", "102", "103"}
    assert first.startswith("That code is not good")
    assert last == "103 (S3) on telegram is in, as member."
    assert "unless three others ask after you" in told[0]


async def test_three_who_ask_every_hour_keep_nobody_from_getting_in(
    house: Site, clock: ManualClock, telegram: TelegramEmulator, ada: Person, owner: Person
) -> None:
    pests = [Person.new(telegram, 100 + number, f"P{number}") for number in range(3)]
    async with hart_on(house, clock):
        for hour in range(3):
            for pest in pests:
                pest.says(f"hour {hour}")
                await pest.hears(hour + 1)
            clock.move(timedelta(minutes=61))
        for pest in pests:
            pest.says("again")
            await pest.hears(4)
        ada.says("hello")
        owner.says(f"/pair approve {code_in((await ada.hears(1))[0])}")
        (approved,) = await owner.hears(1)
    assert approved == "7 (Ada) on telegram is in, as member."


async def test_who_gave_way_before_their_code_was_sent_is_told_to_ask_again(
    house: Site, clock: ManualClock, telegram: TelegramEmulator, ada: Person
) -> None:
    strangers = [Person.new(telegram, 100 + number, f"S{number}") for number in range(3)]
    telegram.faults.add("sendMessage", too_many(60))
    async with hart_on(house, clock) as hart:
        ada.says("hello")

        async def put_off() -> bool:
            return [row.not_before is not None for row in await rows(hart, Delivery)] == [True]

        await eventually(put_off)
        for stranger in strangers:
            stranger.says("let me in")
            await stranger.hears(1)
        clock.move(timedelta(minutes=1))
        await hart.engine.sweep()
        (told,) = await ada.hears(1)
    assert told.startswith("I do not know you yet, and others have asked")
    assert "id is 7" in told


async def test_a_rejected_stranger_waits_no_more_and_may_ask_again_in_an_hour(
    house: Site, clock: ManualClock, ada: Person, owner: Person, admin: Person
) -> None:
    async with hart_on(house, clock) as hart:
        ada.says("hello")
        code = code_in((await ada.hears(1))[0])
        admin.says("/pair reject 7")
        admin.says("/pair reject 7")
        assert await admin.hears(2) == [
            "7 (Ada) on telegram waits no more. They are not told, and may ask again.",
            "Nobody with that id waits.",
        ]
        assert await rows(hart, PairingRequest) == []
        ada.says("hello?")
        owner.says(f"/pair approve {code}")
        (refused,) = await owner.hears(1)
        clock.move(timedelta(minutes=61))
        ada.says("hello again")
        again = code_in((await ada.hears(2))[1])
        assert len(ada.got()) == 2
    assert refused.startswith("That code is not good")
    assert again != code


async def test_five_wrong_codes_lock_an_approver_out_for_an_hour_and_no_other(
    house: Site, clock: ManualClock, ada: Person, owner: Person, admin: Person
) -> None:
    async with hart_on(house, clock) as hart:
        ada.says("hello")
        code = code_in((await ada.hears(1))[0])
        for wrong in ("ABCD-EFGH", "2345-6789", "nonsense", "ABCD-EFGJ", "ABCD-EFGK"):
            admin.says(f"/pair approve {wrong}")
        admin.says(f"/pair approve {code}")
        answers = await admin.hears(6)
        assert await rows(hart, Grant) == []
        owner.says(f"/pair approve {code}")
        assert (await owner.hears(1))[0].endswith("is in, as member.")
        clock.move(timedelta(minutes=61))
        admin.says("/pair approve ABCD-EFGH")
        after = (await admin.hears(7))[-1]
    assert [answer.partition("(")[2] for answer in answers[:4]] == [
        f"{left}{' try' if left == 1 else ' tries'} left)." for left in (4, 3, 2, 1)
    ]
    assert answers[4] == "That code is not good. I take no more codes from you for an hour."
    assert answers[5] == "Too many wrong codes. I take the next one in 60 min."
    assert "(4 tries left)" in after


async def test_members_and_strangers_let_nobody_in(
    house: Site, telegram: TelegramEmulator, ada: Person, bo: Person, owner: Person
) -> None:
    house.use_telegram(telegram, access={"owners": [1], "users": [8], "groups": [-1]})
    async with hart_on(house) as hart:
        ada.says("hello")
        code = code_in((await ada.hears(1))[0])
        ada.says(f"/pair approve {code}")
        bo.says(f"/pair approve {code}")
        (refused,) = await bo.hears(1)
        assert await rows(hart, Grant) == []
        denied = [row for row in await rows(hart, Inbound) if row.kind == "denied"]
        assert code not in str(denied)
    assert refused == "/pair is for admins."
    assert [(row.sender_id, row.note) for row in denied] == [("8", "/pair as member")]
    assert len(ada.got()) == 1


async def test_an_approval_that_is_carried_out_again_after_a_crash_says_the_same(
    house: Site, ada: Person, owner: Person
) -> None:
    async with hart_on(house) as hart:
        ada.says("hello")
        code = code_in((await ada.hears(1))[0])
        owner.says(f"/pair approve {code}")
        (first,) = await owner.hears(1)

        def reopen(session) -> None:
            row = session.exec(select(Inbound).where(Inbound.kind == "command")).one()
            row.done_at = None
            session.add(row)

        await hart.database.run(reopen)
        await hart.engine.sweep()

        async def closed() -> bool:
            return all(row.done_at for row in await rows(hart, Inbound))

        await eventually(closed)
        assert len(await rows(hart, Grant)) == 1
        assert {row.failures for row in await rows(hart, Lockout)} == {0}
    assert first.endswith("is in, as member.")


async def test_a_name_that_a_stranger_chose_does_nothing_to_whoever_reads_it(
    house: Site, telegram: TelegramEmulator, owner: Person
) -> None:
    stranger = Person.new(telegram, 9, "`x` [click](https://evil.example) @all *b*")
    async with hart_on(house):
        stranger.says("hello")
        await stranger.hears(1)
        owner.says("/pair list")
        (listed,) = await owner.hears(1)
    entities = owner.got()[0].params.get("entities", "")
    assert "[click](https://evil.example) @all *b*" in listed
    assert "text_link" not in str(entities)


async def test_a_prompt_that_is_sent_again_has_a_new_code_and_only_that_one_is_good(
    house: Site, telegram: TelegramEmulator, ada: Person, owner: Person
) -> None:
    telegram.faults.add("sendMessage", DropAfter())
    async with hart_on(house) as hart:
        ada.says("hello")
        first, again = map(code_in, await ada.hears(2))
        owner.says(f"/pair approve {first}")
        owner.says(f"/pair approve {again}")
        old, new = await owner.hears(2)
        kept = str([await rows(hart, table) for table in EVERYTHING])
    assert first != again
    assert old.startswith("That code is not good")
    assert new.endswith("is in, as member.")
    assert not any(code in kept for code in (first, again))
