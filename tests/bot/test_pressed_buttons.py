"""Once a button was pressed, the message shows none any more; on every platform."""

import pytest

from tests.emulators.openai import OpenAIEmulator
from tests.hart import Site, hart_on
from tests.platforms import Platform


@pytest.fixture
def here(tmp_path, openai: OpenAIEmulator, platform: Platform) -> Site:
    """A place for Hart on SQLite, with one platform open to everyone."""
    site = Site(tmp_path)
    site.use_openai(openai, "test-model", "other-model", "third-model")
    platform.use(site)
    return site


@pytest.mark.parametrize("where", ["direct", "thread"])
async def test_the_buttons_go_away_once_one_was_pressed(here: Site, platform: Platform, where: str) -> None:
    ann = platform.person("Ann")
    place = platform.direct(ann) if where == "direct" else platform.thread(platform.group("Ops"), ann)
    async with hart_on(here):
        await platform.wait_until_listening()
        platform.say(place, ann, "/models")
        (listing,) = await platform.wait_for_seen(1)
        before = platform.buttons_now(listing)
        platform.press(listing, "third-model", ann)
        answer = (await platform.wait_for_seen(2))[1]
        await platform.wait_for(lambda: not platform.buttons_now(listing))

    assert before == listing.buttons == ("other-model", "third-model")
    assert (answer.place, "third-model" in answer.text) == (listing.place, True)
    assert platform.text_now(listing) in (listing.text, f"{listing.text}\n✓ third-model")
    assert platform.text_now(answer) == answer.text


async def test_the_buttons_stay_for_whom_they_are_when_somebody_else_presses(
    here: Site, platform: Platform
) -> None:
    ann, bo = platform.person("Ann"), platform.person("Bo")
    group = platform.group("Ops")
    async with hart_on(here):
        await platform.wait_until_listening()
        place = platform.say(group, ann, "/models")
        (listing,) = await platform.wait_for_seen(1)
        platform.press(listing, "other-model", bo)
        await platform.wait_for_seen(2)
        stayed = platform.buttons_now(listing)
        platform.press(listing, "other-model", ann)
        await platform.wait_for_seen(3)
        await platform.wait_for(lambda: not platform.buttons_now(listing))

    assert stayed == listing.buttons
    assert {seen.place for seen in platform.seen()} == {place}


async def test_a_platform_that_does_not_change_the_message_does_not_hold_up_the_chat(
    here: Site, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.engine.keyboards.CLOSE_SECONDS", 0.05)
    ann = platform.person("Ann")
    place = platform.direct(ann)
    platform.hold_edits()
    async with hart_on(here):
        await platform.wait_until_listening()
        platform.say(place, ann, "/models")
        (listing,) = await platform.wait_for_seen(1)
        platform.press(listing, "other-model", ann)
        await platform.wait_for_seen(2)
        platform.say(place, ann, "/models test-model")
        answers = (await platform.wait_for_seen(3))[1:]

    assert ["other-model" in answers[0].text, "test-model" in answers[1].text] == [True, True]
    assert platform.buttons_now(listing) == listing.buttons
