"""The ``agent:`` section."""

from pathlib import Path

import pytest

from bot.agent_chain import chain_settings
from bot.config import ConfigError, load

BASE = """version: 1
models:
  - {name: main, use: "agent_core.models.offline:OfflineChatModel"}
  - {name: spare, use: "agent_core.models.offline:OfflineChatModel"}
agent:
"""


def written(directory: Path, *lines: str) -> Path:
    """Write a configuration with these lines under ``agent:``."""
    (directory / "config.yaml").write_text(BASE + "".join(f"  {line}\n" for line in lines))
    return directory


def test_numbers_reach_the_layers(tmp_path: Path) -> None:
    site = written(
        tmp_path,
        "fallback_models: [spare]",
        "title_model: spare",
        "zone: Asia/Tokyo",
        "tool_timeout_seconds: 7",
        "denied_tools: [read_feed]",
        "token_budget: {run: 10000000, user_day: 5}",
        "loop: {warn: 2, stop: 4}",
        "tool_output: {characters: 100, head: 10, tail: 5}",
    )
    settings = chain_settings(load(site, {}).config)
    assert settings.fallback_models == ("spare",)
    assert settings.title_model == "spare"
    assert str(settings.zone) == "Asia/Tokyo"
    assert settings.tool_seconds == 7
    assert settings.denied_tools == ("read_feed",)
    assert (settings.tokens.run, settings.tokens.thread, settings.tokens.user_day) == (10_000_000, None, 5)
    assert (settings.loops.warn, settings.loops.stop, settings.loops.tool_stop) == (2, 4, 50)
    assert (settings.outputs.characters, settings.outputs.exempt) == (100, ("read_file",))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("fallback_models: [main, spear]", 'agent.fallback_models[1]: found "spear"'),
        ("title_model: spear", 'did you mean "spare"?'),
        ("token_budget: {run: 0}", "agent.token_budget.run: found 0, expected a whole number of tokens"),
        ("token_budget: {day: 1}", "agent.token_budget.day"),
        ("loop: {warn: 5, stop: 5}", "a warning must come before the end"),
        ("loop: {stop: 30}", "stop cannot be above window"),
        ("tool_output: {head: 12000}", "head and tail together cannot be above characters"),
        ("zone: Europe/Berln", 'did you mean "Europe/Berlin"?'),
        ("guardrail: nonsense", "package.module:Class"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load(written(tmp_path, line), {})
    assert told in str(refused.value)
