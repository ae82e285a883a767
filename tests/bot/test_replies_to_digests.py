"""What a task posted can be answered, and the answer knows what it said: on every platform."""

from datetime import timedelta
from pathlib import Path

import pytest

from bot.app import Hart
from bot.store.tables import Delivery
from tests.clock import ManualClock
from tests.emulators.openai import ChatRequest, OpenAIEmulator, Reply
from tests.engine.ledger import eventually, rows
from tests.hart import Site, hart_on
from tests.platforms import Place, Platform

DAY = timedelta(days=1)


@pytest.fixture
def site(tmp_path: Path, openai: OpenAIEmulator) -> Site:
    site = Site(tmp_path)
    site.use_openai(openai)
    site.config["limits"] = {"model_retries": 0, "drain_seconds": 0}
    return site


def _daily(platform: Platform, *places: Place) -> list[dict[str, object]]:
    return [
        {
            "name": "digest",
            "schedule": {"cron": "0 9 * * *"},
            "prompt": "the news",
            "progress": False,
            "targets": [{"channel": platform.name, "chat": place.chat} for place in places],
        }
    ]


def _people_in(request: ChatRequest) -> list[str]:
    """What was asked in the conversation so far, oldest first."""
    said = [message for message in request.messages if message["role"] == "user"]
    return [str(message["content"]) for message in said]


async def test_a_reply_continues_the_run_that_posted_and_other_talk_does_not(
    platform: Platform, site: Site, openai: OpenAIEmulator
) -> None:
    openai.responder = lambda request: Reply(f"number {len(_people_in(request))}")
    platform.use(site)
    ada = platform.person("Ada")
    place = platform.group("Team")
    site.config["tasks"] = _daily(platform, place)
    clock = ManualClock()
    async with hart_on(site, clock) as hart:
        await platform.wait_until_listening()
        platform.say(place, ada, "hello")
        await platform.wait_for_seen(1)
        clock.move(DAY)
        await hart.scheduler.tick()
        digest = (await platform.wait_for_seen(2))[1]
        await _all_sent(hart)
        assert digest.text == "number 1"
        platform.reply(digest, ada, "tell me more")
        more = (await platform.wait_for_seen(3))[2]
        await _all_sent(hart)
        assert more.text == "number 2", "it knows the digest, and nothing of the group's other talk"
        platform.reply(more if platform.name == "telegram" else digest, ada, "and more")
        assert (await platform.wait_for_seen(4))[3].text == "number 3"
    assert "the news" in _all_said(openai)
    assert "tell me more" in _all_said(openai)


async def test_two_chats_that_answer_the_same_digest_do_not_hear_of_each_other(
    platform: Platform, site: Site, openai: OpenAIEmulator
) -> None:
    openai.responder = lambda request: Reply(f"number {len(_people_in(request))}")
    platform.use(site)
    ada, bo = platform.person("Ada"), platform.person("Bo")
    places = (platform.group("Red"), platform.group("Blue"))
    site.config["tasks"] = _daily(platform, *places)
    clock = ManualClock()
    async with hart_on(site, clock) as hart:
        await platform.wait_until_listening()
        clock.move(DAY)
        await hart.scheduler.tick()
        digests = await platform.wait_for_seen(2)
        await _all_sent(hart)
        by_chat = {digest.place.chat: digest for digest in digests}
        platform.reply(by_chat[places[0].chat], ada, "red secret")
        await platform.wait_for_seen(3)
        platform.reply(by_chat[places[1].chat], bo, "blue question")
        heard = await platform.wait_for_seen(4)
    assert [one.text for one in heard[2:]] == ["number 2", "number 2"]
    last = _all_said(openai)
    assert "the news" in last
    assert "blue question" in last
    assert "red secret" not in last


async def _all_sent(hart: Hart) -> None:
    """Wait until the ledger knows the ids of all that was posted."""

    async def look() -> bool:
        return all(delivery.state == "sent" for delivery in await rows(hart, Delivery))

    await eventually(look)


def _all_said(openai: OpenAIEmulator) -> str:
    return str(openai.accepted[-1].messages)
