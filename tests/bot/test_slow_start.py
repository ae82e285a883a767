"""A platform that does not answer when Hart starts holds up itself alone."""

import asyncio

import pytest

from bot.errors import OperatorError
from tests.emulators.feishu import FeishuEmulator, Hang
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.slack import SlackEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site, hart_on


@pytest.fixture
def all_three(
    tmp_path, openai: OpenAIEmulator, telegram: TelegramEmulator, slack: SlackEmulator, feishu: FeishuEmulator
) -> Site:
    site = Site(tmp_path)
    site.use_openai(openai)
    site.use_telegram(telegram)
    site.use_slack(slack)
    site.use_feishu(feishu)
    return site


async def test_the_others_answer_before_feishu_says_a_word(
    all_three: Site,
    telegram: TelegramEmulator,
    slack: SlackEmulator,
    feishu: FeishuEmulator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("channels.feishu.channel.CHECK_SECONDS", 600)
    feishu.faults.add("token", Hang())
    stop = asyncio.Event()

    async def run() -> None:
        async with hart_on(all_three):
            await stop.wait()

    running = asyncio.create_task(run())
    try:
        ada, ann = telegram.user(7, "Ada"), slack.user("Ann")
        telegram.say(telegram.private_chat(ada), ada, "hello")
        slack.say(slack.dm(ann), ann, "hello")
        await telegram.wait_for_sent(1, 60)
        await slack.wait_for_sent(1, 60)
        assert (feishu.count("token"), feishu.opened) == (1, 0)
        async with feishu.offline():
            pass  # it lets go of those it kept waiting
        await feishu.wait_until_connected(timeout=60)
    finally:
        stop.set()
        await running


async def test_a_refusal_that_comes_late_still_ends_the_start(
    all_three: Site, feishu: FeishuEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.app.CHECK_PATIENCE_SECONDS", 0)
    all_three.use_feishu(feishu, app_secret="wrong")
    with pytest.raises(OperatorError, match="feishu/main"):
        async with hart_on(all_three):
            pytest.fail("Hart does not run without an app secret that is good")
    assert feishu.opened == 0
