"""Which bench a clause of the contract is tried on."""

import pytest

from tests.contract.bench import Bench
from tests.contract.feishu_bench import FeishuBench
from tests.contract.slack_bench import SlackBench, SlackHttpBench
from tests.contract.telegram_bench import TelegramBench
from tests.contract.web_bench import WebBench

BENCHES: dict[str, type[Bench]] = {
    "telegram": TelegramBench,
    "slack": SlackBench,
    "slack-http": SlackHttpBench,
    "feishu": FeishuBench,
    "web": WebBench,
}

everywhere = pytest.mark.parametrize("bench", list(BENCHES), indirect=True)
"""For what every channel must do."""

heard_from_platforms = pytest.mark.parametrize(
    "bench", ["telegram", "slack", "slack-http", "feishu"], indirect=True
)
"""For what is heard on platforms with groups, threads and bots."""

connected = pytest.mark.parametrize("bench", ["telegram", "slack", "feishu"], indirect=True)
"""For channels that open connections to hear, and for what is said: that is the same however they hear."""
