"""The table of layers in the documentation is the chain."""

import re
from pathlib import Path

from agent_core.middlewares.chain import ChainBuilder, ChainParts, ChainSettings
from agent_core.models.catalog import ModelCatalog
from agent_core.models.spec import ModelSpec
from agent_core.sandbox.local import LocalSandboxProvider

DOCUMENT = Path(__file__).parents[2] / "docs/agent.md"


def test_every_layer_is_documented_in_its_place() -> None:
    models = ModelCatalog([ModelSpec("offline", "agent_core.models.offline:OfflineChatModel")], None, 60)
    chain = ChainBuilder(models, ChainSettings(), ChainParts(sandboxes=LocalSandboxProvider())).build(
        "offline"
    )
    layers = DOCUMENT.read_text().partition("## The layers")[2].partition("## ")[0]
    documented = re.findall(r"^\| (\w+) \| (?:model|tools|both) \|", layers, re.MULTILINE)
    assert documented == [layer.name.removesuffix("Middleware") for layer in chain]
