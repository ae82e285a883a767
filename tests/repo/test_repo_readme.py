"""The commands in README.md do what is printed below them."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.config import load
from tests.repo.tree import ROOT, read

HART = Path(sys.executable).parent / "hart"
VARIABLES = ("CI", "DATABASE_URL", "TELEGRAM_BOT_TOKEN")


def environment() -> dict[str, str]:
    """The environment of somebody who has set nothing."""
    ours = ("HART_", "OPENAI_", "SLACK_", "FEISHU_", "COV_", "PYTEST")
    return {k: v for k, v in os.environ.items() if k not in VARIABLES and not k.startswith(ours)}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a clone holds, as far as Hart reads it; on any free port."""
    place = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "examples", place / "examples")
    shutil.copyfile(ROOT / "channels.yaml", place / "channels.yaml")
    (place / "config.yaml").write_text(read("config.yaml").replace("port: 8765", "port: 0"))
    return place


@pytest.fixture(scope="module")
def greeting(place: Path) -> Iterator[str]:
    """What a running Hart says at its start; it runs until the tests are over."""
    command = [HART, "run", "--no-console"]
    with subprocess.Popen(
        command, cwd=place, env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            # The address, the model, and a line for each account.
            expected = 2 + len(load(place, {}).channels.states())
            yield "".join(process.stdout.readline() for _ in range(expected))
        finally:
            process.terminate()
            process.stdout.read()
        assert process.wait(30) == 0


def block_with(words: str) -> str:
    """The fenced block of the README that holds some words."""
    blocks = re.findall(r"^```[a-z]*\n(.*?)^```", read("README.md"), re.MULTILINE | re.DOTALL)
    (block,) = (block for block in blocks if words in block)
    return block


def examples() -> list[tuple[str, str]]:
    """Commands with what is printed below each, from the blocks that show both."""
    blocks = re.findall(r"^```console\n(.*?)^```", read("README.md"), re.MULTILINE | re.DOTALL)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE) if part]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


def run(place: Path, command: str) -> str:
    program, *rest = re.findall(r'"([^"]*)"|(\S+)', command)
    assert "".join(program) == ".venv/bin/hart"
    arguments = ["".join(pair) for pair in rest]
    return subprocess.run(
        [HART, *arguments],
        cwd=place,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout


def test_the_greeting_is_as_shown(greeting: str) -> None:
    shown = block_with("Hart is running").split("Chat “main”")[0]
    assert re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8765", greeting) == shown


@pytest.mark.timeout(400)
def test_commands_print_what_is_shown(place: Path, greeting: str) -> None:
    found = examples()
    assert len(found) == 4
    for command, shown in found:
        printed = run(place, command)
        if shown:
            assert re.fullmatch(re.escape(shown).replace("…/", ".*/"), printed), (command, printed)
        else:
            assert printed.endswith(block_with("-> web main")), (command, printed)
