"""What reaches people, in which order, and what is recorded about the rest."""

import asyncio
from datetime import timedelta

import httpx

from bot.app import Hart
from bot.store.tables import Delivery
from channels.telegram.render import REPEAT_MARK
from tests.clock import ManualClock
from tests.emulators.openai import Call, ChatRequest, OpenAIEmulator, Reply, echo
from tests.emulators.telegram import DropAfter, DropBefore, Refuse, Slow, TelegramEmulator, too_many
from tests.engine.ledger import eventually, rows
from tests.engine.people import PATIENCE, Person
from tests.hart import Site, hart_on, local_client

BLOCKED = Refuse(403, "Forbidden: bot was blocked by the user")


async def states(hart: Hart) -> list[str]:
    """The state of every delivery, oldest first."""
    return [delivery.state for delivery in await rows(hart, Delivery)]


async def settled(hart: Hart, *wanted: str) -> list[Delivery]:
    """Wait until the deliveries are in these states, and give them."""

    async def look() -> list[Delivery]:
        found = list(await rows(hart, Delivery))
        return found if [delivery.state for delivery in found] == list(wanted) else []

    return await eventually(look)


async def test_a_long_answer_arrives_whole_and_in_order(
    open_site: Site, openai: OpenAIEmulator, ada: Person
) -> None:
    answer = " ".join(f"word{number}" for number in range(1200))
    openai.responder = lambda request: Reply(answer, chunk_size=500)
    async with hart_on(open_site) as hart:
        ada.says("tell me")
        heard = await ada.hears(3)
        deliveries = await settled(hart, "sent", "sent", "sent")
    assert " ".join(text.strip() for text in heard) == answer
    assert [delivery.final for delivery in deliveries] == [False, False, True]
    assert [delivery.receipt for delivery in deliveries] == [str(sent.message_id) for sent in ada.got()]


class TestFloodControl:
    async def test_the_wait_is_what_the_platform_asked_and_other_chats_go_on(
        self, open_site: Site, telegram: TelegramEmulator, ada: Person, bo: Person
    ) -> None:
        telegram.faults.add("sendMessage", too_many(2))
        async with hart_on(open_site):
            ada.says("one")
            await telegram.wait_for(lambda: telegram.count("sendMessage") == 1, PATIENCE)
            refused_at = telegram.calls[-1].at
            ada.says("two")
            bo.says("three")
            await bo.hears(1)
            assert ada.got() == []
            heard = await ada.hears(2)
        assert heard == ["answer to: one", "answer to: two"]
        assert 2.0 <= ada.got()[0].accepted_at - refused_at < 4.0

    async def test_the_time_of_the_next_try_is_exact(
        self, open_site: Site, telegram: TelegramEmulator, ada: Person, bo: Person
    ) -> None:
        clock = ManualClock()
        telegram.faults.add("sendMessage", too_many(300))
        async with hart_on(open_site, clock) as hart:
            ada.says("one")
            (waiting,) = await eventually(lambda: _waiting(hart))
            assert waiting.not_before == clock() + timedelta(seconds=300)
            clock.move(timedelta(seconds=299.999))
            await hart.engine.sweep()
            bo.says("hello")
            await bo.hears(1)
            assert ada.got() == []
            clock.move(timedelta(milliseconds=1))
            await hart.engine.sweep()
            assert await ada.hears(1) == ["answer to: one"]


async def _waiting(hart: Hart) -> list[Delivery]:
    return [delivery for delivery in await rows(hart, Delivery) if delivery.not_before is not None]


class TestFailures:
    async def test_a_permanent_one_is_recorded_and_the_next_delivery_goes_on(
        self, open_site: Site, telegram: TelegramEmulator, ada: Person
    ) -> None:
        telegram.faults.add("sendMessage", BLOCKED)
        async with hart_on(open_site) as hart:
            ada.says("one")
            ada.says("two")
            assert await ada.hears(1) == ["answer to: two"]
            failed, _ = await settled(hart, "failed", "sent")
        assert failed.error == "Telegram: 403: Forbidden: bot was blocked by the user"
        assert (failed.attempts, failed.receipt, failed.sent_at) == (1, None, None)
        assert telegram.count("sendMessage") == 2

    async def test_a_file_is_told_of_in_its_place_also_when_only_the_platform_knows_why(
        self, open_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
    ) -> None:
        path = "/mnt/user-data/outputs/report.txt"

        def model(request: ChatRequest) -> Reply:
            calls = (
                Call("write_file", {"path": path, "content": "x"}),
                Call("present_files", {"paths": [path]}),
            )
            done = len(request.tool_results())
            return Reply(calls=calls[done : done + 1]) if done < len(calls) else Reply("Here.")

        openai.responder = model
        telegram.faults.add("sendDocument", Refuse(413, "Request Entity Too Large"))
        async with hart_on(open_site) as hart:
            ada.says("report")
            assert await ada.hears(2) == [
                "Here.",
                "I could not send you report.txt: the platform does not take it.",
            ]
            _, told = await settled(hart, "sent", "sent")
        assert (told.file_path, told.receipt) == (None, str(ada.got()[1].message_id))

    async def test_an_ambiguous_one_is_sent_again_and_says_that_it_may_be_a_repeat(
        self, open_site: Site, telegram: TelegramEmulator, ada: Person
    ) -> None:
        telegram.faults.add("sendMessage", DropAfter())
        async with hart_on(open_site) as hart:
            ada.says("one")
            ada.says("two")
            heard = await ada.hears(3)
            first, _ = await settled(hart, "sent", "sent")
        assert heard == ["answer to: one", f"{REPEAT_MARK}\n\nanswer to: one", "answer to: two"]
        assert (first.attempts, first.possible_repeat) == (2, True)

    async def test_five_ambiguous_tries_are_enough(
        self, open_site: Site, telegram: TelegramEmulator, ada: Person
    ) -> None:
        clock = ManualClock()
        telegram.faults.add("sendMessage", DropBefore(), times=5)
        async with hart_on(open_site, clock) as hart:
            ada.says("one")
            for tries in range(1, 6):
                await telegram.wait_for(lambda tries=tries: telegram.count("sendMessage") >= tries, PATIENCE)
                await eventually(lambda tries=tries: _tried(hart, tries, clock))
                clock.move(timedelta(minutes=1))
                await hart.engine.sweep()
            (given_up,) = await settled(hart, "failed")
            ada.says("two")
            assert await ada.hears(1) == ["answer to: two"]
        assert given_up.error is not None
        assert given_up.error.startswith("given up after 5 tries: ")

    async def test_an_outage_delays_and_keeps_the_order(
        self, open_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
    ) -> None:
        clock = ManualClock()
        gate = asyncio.Event()

        async def model(request: ChatRequest) -> Reply:
            await gate.wait()
            return echo(request)

        openai.responder = model
        async with hart_on(open_site, clock) as hart:
            for text in ("one", "two", "three"):
                ada.says(text)
            await telegram.wait_until_heard(PATIENCE)
            async with telegram.offline():
                gate.set()
                await eventually(lambda: _waiting(hart))
                await settled(hart, "open", "open", "open")
            clock.move(timedelta(minutes=1))
            await hart.engine.sweep()
            heard = await ada.hears(3)
            await settled(hart, "sent", "sent", "sent")
        assert heard == ["answer to: one", "answer to: two", "answer to: three"]


async def _tried(hart: Hart, tries: int, clock: ManualClock) -> bool:
    """Whether the try of that number has ended: the next one's time is yet to come, or there is none."""
    (delivery,) = await rows(hart, Delivery)
    waits = delivery.not_before is not None and delivery.not_before > clock()
    return delivery.attempts == tries and (waits or delivery.state == "failed")


class TestChannelsThatGo:
    async def test_a_token_that_is_taken_away_stops_that_account_alone(
        self, open_site: Site, telegram: TelegramEmulator, ada: Person
    ) -> None:
        async with hart_on(open_site) as hart, httpx.AsyncClient(base_url=hart.url, trust_env=False) as http:
            ada.says("hello")
            await ada.hears(1)
            assert (await http.get("/readyz")).status_code == 200
            telegram.revoke()

            async def unready() -> httpx.Response | None:
                response = await http.get("/readyz")
                return response if response.status_code == 503 else None

            response = await eventually(unready)
            assert response.json()["problems"] == ["telegram/main"]
            assert (await http.get("/healthz")).status_code == 200
            async with local_client(hart) as client:
                await client.post("desk", "still there?", "m1")
                await eventually(lambda: _answered(client, "answer to: still there?"))

    async def test_what_is_open_for_a_channel_that_is_off_waits_for_it(
        self, open_site: Site, telegram: TelegramEmulator, ada: Person
    ) -> None:
        clock = ManualClock()
        telegram.faults.add("sendMessage", too_many(60))
        async with hart_on(open_site, clock) as hart:
            ada.says("one")
            await eventually(lambda: _waiting(hart))
        telegram_settings = open_site.channels.pop("telegram")
        clock.move(timedelta(hours=23))
        async with hart_on(open_site, clock) as hart:
            await hart.engine.sweep()
            assert await states(hart) == ["open"]
        open_site.channels["telegram"] = telegram_settings
        async with hart_on(open_site, clock):
            assert await ada.hears(1) == ["answer to: one"]

    async def test_but_not_for_longer_than_a_day(
        self, open_site: Site, telegram: TelegramEmulator, ada: Person
    ) -> None:
        clock = ManualClock()
        telegram.faults.add("sendMessage", too_many(60))
        async with hart_on(open_site, clock) as hart:
            ada.says("one")
            await eventually(lambda: _waiting(hart))
        del open_site.channels["telegram"]
        clock.move(timedelta(hours=24, seconds=1))
        async with hart_on(open_site, clock) as hart:
            (failed,) = await settled(hart, "failed")
        assert failed.error == "channel telegram/main is off"


async def _answered(client, text: str) -> bool:
    page = await client.history("desk", 10)
    return any(entry.text == text for entry in page.entries)


async def test_a_stop_of_the_process_lets_a_send_under_way_finish(
    open_site: Site, telegram: TelegramEmulator, ada: Person
) -> None:
    open_site.config["limits"] = {"drain_seconds": 10}
    telegram.faults.add("sendMessage", Slow(0.5))
    async with hart_on(open_site):
        ada.says("one")
        await telegram.wait_for(lambda: telegram.count("sendMessage") == 1, PATIENCE)
    async with hart_on(open_site) as hart:
        ada.says("two")
        await telegram.wait_for(lambda: any("two" in text for text in _texts(ada)), PATIENCE)
        (first, _) = await rows(hart, Delivery)
    assert _texts(ada) == ["answer to: one", "answer to: two"]
    assert first.attempts == 1


def _texts(person: Person) -> list[str]:
    return [sent.text for sent in person.got()]
