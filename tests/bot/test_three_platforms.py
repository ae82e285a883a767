"""All three platforms, their emulators, the model server and Hart, in one process and on one loop."""

import asyncio

from tests.emulators.feishu import FeishuEmulator
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.slack import SlackEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site, hart_on
from tests.platforms import OnFeishu, OnSlack, OnTelegram
from tests.traffic import MESSAGES, Traffic, say_all

PATIENCE = 300.0


async def test_three_hundred_messages_get_their_answers_each_in_its_thread_in_order_and_once(
    tmp_path,
    openai: OpenAIEmulator,
    telegram: TelegramEmulator,
    slack: SlackEmulator,
    feishu: FeishuEmulator,
) -> None:
    site = Site(tmp_path)
    site.use_openai(openai)
    site.config["limits"] = {"model_retries": 0, "drain_seconds": 0}
    platforms = (OnTelegram(telegram), OnSlack(slack), OnFeishu(feishu))
    for platform in platforms:
        platform.use(site)
    traffic = [Traffic(platform) for platform in platforms]
    async with hart_on(site):
        await asyncio.gather(*(platform.wait_until_listening() for platform in platforms))
        assert say_all(traffic) == 3 * MESSAGES
        await asyncio.gather(
            *(
                platform.wait_for(lambda p=platform: len(p.seen()) >= MESSAGES, PATIENCE)
                for platform in platforms
            )
        )
        await asyncio.gather(*(platform.wait_until_heard() for platform in platforms))

    for one in traffic:
        assert one.answered() == one.wanted()
    assert len(openai.accepted) == 3 * MESSAGES
