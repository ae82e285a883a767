"""Whoever is not let in, or presses what is not theirs, gets nothing done; on every platform alike."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx
import pytest

from bot.app import Hart
from bot.buttons import NOT_YOURS, UNKNOWN, USED
from bot.store.tables import Action, Inbound, Thread
from tests.emulators.openai import OpenAIEmulator
from tests.engine.ledger import rows
from tests.hart import Site, hart_on
from tests.platforms import Place, Platform, Seen


@dataclass(frozen=True, slots=True)
class Scene:
    """A Hart that knows Ann and one group, and nobody else.

    Args:
        ann: Who is let in.
        eve: A stranger.
        group: Whose members are let in, all of them.
        elsewhere: A group that nobody let in.
    """

    hart: Hart
    platform: Platform
    ann: str
    eve: str
    group: Place
    elsewhere: Place

    async def told(self, *words: str) -> None:
        """Wait until that many messages were posted since nothing was, the last of which say these words."""
        seen = await self.platform.wait_for_seen(len(words))
        assert [word in one.text for word, one in zip(words, seen, strict=True)] == [True] * len(words), seen

    async def listing(self) -> Seen:
        """Ann asks for the models in the group: a message with buttons for her."""
        self.platform.say(self.group, self.ann, "/models")
        (found,) = await self.platform.wait_for_seen(1)
        return found


async def a_stranger_writes(scene: Scene) -> list[str]:
    home = scene.platform.direct(scene.eve)
    for text in ("let me in", "/models other-model", "/new do it", "please"):
        scene.platform.say(home, scene.eve, text)
    return [scene.eve]  # told once, with their own id, whatever they do


async def a_member_of_another_group_writes(scene: Scene) -> list[str]:
    for text in ("in here?", "/models other-model"):
        scene.platform.say(scene.elsewhere, scene.eve, text)
    return [scene.elsewhere.chat]


async def somebody_let_in_writes_in_another_group(scene: Scene) -> list[str]:
    scene.platform.say(scene.elsewhere, scene.ann, "/models other-model")
    return [scene.elsewhere.chat]


async def a_stranger_presses_a_button_of_a_message_that_was_for_them(scene: Scene) -> list[str]:
    home = scene.platform.direct(scene.eve)
    scene.platform.say(home, scene.eve, "hello")
    (refusal,) = await scene.platform.wait_for_seen(1)
    scene.platform.spoof(refusal, scene.eve)
    return [scene.eve]


async def a_bot_writes(scene: Scene) -> list[str]:
    scene.platform.say_as_bot(scene.group, "hello")
    scene.platform.say_as_bot(scene.group, "/models other-model")
    return []


async def another_person_presses(scene: Scene) -> list[str]:
    scene.platform.press(await scene.listing(), "other-model", scene.eve)
    return ["other-model", NOT_YOURS]


async def a_button_is_pressed_that_never_was(scene: Scene) -> list[str]:
    scene.platform.spoof(await scene.listing(), scene.ann)
    return ["other-model", UNKNOWN]


NOTHING_DONE = (
    a_stranger_writes,
    a_member_of_another_group_writes,
    somebody_let_in_writes_in_another_group,
    a_stranger_presses_a_button_of_a_message_that_was_for_them,
    a_bot_writes,
    another_person_presses,
    a_button_is_pressed_that_never_was,
)


@pytest.fixture
def here(tmp_path, openai: OpenAIEmulator) -> Site:
    site = Site(tmp_path)
    site.use_openai(openai, "test-model", "other-model")
    site.config["limits"] = {"model_retries": 0, "drain_seconds": 0}
    return site


@pytest.mark.parametrize("act", NOTHING_DONE, ids=lambda act: act.__name__)
async def test_they_get_nothing_done(
    here: Site, platform: Platform, openai: OpenAIEmulator, act: Callable[[Scene], Awaitable[list[str]]]
) -> None:
    ann, eve = platform.person("Ann"), platform.person("Eve")
    group, elsewhere = platform.group("Ops"), platform.group("Elsewhere")
    access = {"dm": "allowlist", "users": [ann], "group": "allowlist", "groups": [group.chat]}
    platform.use(here, access=access)
    async with hart_on(here) as hart:
        await platform.wait_until_listening()
        scene = Scene(hart, platform, ann, eve, group, elsewhere)
        words = await act(scene)
        await scene.told(*words)
        await platform.wait_until_heard()
        # What Ann is answered shows that nothing else is on its way.
        platform.say(platform.direct(ann), ann, "hello")
        await scene.told(*words, "answer to: hello")
        inbound, actions = await rows(hart, Inbound), await rows(hart, Action)
        threads = await rows(hart, Thread)

    assert len(openai.accepted) == 1
    assert openai.accepted[0].json["model"] == "test-model"
    done = [row for row in inbound if row.kind in ("message", "command")]
    assert {row.sender_id for row in done} == {ann}
    assert [row.text for row in done] in (["hello"], ["/models", "hello"])
    assert {thread.model for thread in threads} == {None}
    assert all(action.used_at is None for action in actions)


async def test_a_button_works_once(here: Site, platform: Platform) -> None:
    ann = platform.person("Ann")
    platform.use(here)
    async with hart_on(here) as hart:
        await platform.wait_until_listening()
        home = platform.direct(ann)
        platform.say(home, ann, "/models")
        (listing,) = await platform.wait_for_seen(1)
        platform.press(listing, "other-model", ann)
        await platform.wait_for_seen(2)
        platform.say(home, ann, "/models test-model")
        await platform.wait_for_seen(3)
        platform.press(listing, "other-model", ann)
        replayed = (await platform.wait_for_seen(4))[3]
        models = {thread.model for thread in await rows(hart, Thread)}

    assert replayed.text == USED
    assert models == {"test-model"}


SPOOFED = {
    "telegram": ("/telegram/main", {"update_id": 1, "message": {"message_id": 1, "text": "do it"}}),
    "slack": (
        "/slack/main/events",
        {"type": "event_callback", "event": {"type": "message", "text": "do it"}},
    ),
    "feishu": ("/feishu/main/events", {"schema": "2.0", "header": {"event_type": "im.message.receive_v1"}}),
}
"""Where a platform would post events, and what it would post. Of these, only Slack can be asked to."""


async def test_an_event_that_somebody_else_posts_is_refused(
    here: Site, platform: Platform, openai: OpenAIEmulator
) -> None:
    platform.use(here, **({"http": True} if platform.name == "slack" else {}))
    path, event = SPOOFED[platform.name]
    async with hart_on(here) as hart, httpx.AsyncClient(base_url=hart.url) as eve:
        statuses = [
            (await eve.post(path, json=event, headers=headers)).status_code
            for headers in (
                {},
                {"X-Slack-Request-Timestamp": "1796000000", "X-Slack-Signature": "v0=" + "0" * 64},
                {"X-Telegram-Bot-Api-Secret-Token": "guess"},
                {"X-Lark-Signature": "guess"},
            )
        ]
        kept = await rows(hart, Inbound)

    assert all(400 <= status < 500 for status in statuses), statuses
    assert kept == []
    assert openai.requests == []
