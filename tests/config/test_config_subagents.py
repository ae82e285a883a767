"""The ``subagents:`` section, from the file to the kinds the agent is told of."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent_core.subagents.spec import SubagentSpec
from bot.agent_chain import chain_settings
from bot.agent_subagents import subagent_specs
from bot.config import Settings
from bot.errors import OperatorError
from tests.hart import Site, hart_on

MODELS = """
models:
  - {name: main, use: "agent_core.models.offline:OfflineChatModel"}
"""


def test_numbers_and_kinds_reach_the_agent(settings: Callable[..., Settings]) -> None:
    config = settings(
        MODELS
        + """
subagents:
  at_once: 2
  per_run: 4
  kinds:
    - {name: reader, description: reads, prompt: Read., tools: [read_feed], model: main}
    - {name: thinker, description: thinks, prompt: Think., max_turns: 9, timeout_seconds: 60}
"""
    ).config
    assert (chain_settings(config).subagents_at_once, chain_settings(config).subagents_per_run) == (2, 4)
    assert subagent_specs(config) == (
        SubagentSpec("reader", "reads", "Read.", ("read_feed",), "main", 50, 900),
        SubagentSpec("thinker", "thinks", "Think.", None, None, 9, 60),
    )


def test_what_cannot_be_is_named_with_its_line(lines: Callable[..., list[str]]) -> None:
    assert lines(
        MODELS
        + """
subagents:
  kinds:
    - {name: reader, description: reads, prompt: Read., model: mian}
    - {name: reader, description: reads, prompt: Read.}
agent: {mode: fast}
"""
    ) == [
        'config.yaml:10: agent.mode: found "fast", expected one of flash, standard, pro, ultra',
        'config.yaml:8: subagents.kinds[0].model: found "mian", which is no model here; did you mean "main"?',
        'config.yaml:9: subagents.kinds[1].name: found "reader" a second time, expected another name',
    ]


async def test_a_tool_that_does_not_exist_stops_the_start_with_a_suggestion(tmp_path: Path) -> None:
    kind = {"name": "reader", "description": "reads", "prompt": "Read.", "tools": ["raed_feed"]}
    site = Site(tmp_path, config={"subagents": {"kinds": [kind]}})
    with pytest.raises(OperatorError, match=r"subagents: reader: there is no tool 'raed_feed'; did you mean"):
        async with hart_on(site):
            pass
