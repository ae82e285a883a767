"""What the documents say about the repository is so."""

import re
import tomllib
from pathlib import Path
from urllib.parse import unquote

import pytest
import typer.main

from bot.cli.app import app
from bot.commands.builtin import builtin_commands
from tests.repo.tree import ROOT, code, documents, read

_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_COMMAND = re.compile(r"^(?:\$ )?(?:[\w./]*/)?hart ([a-z]+)\b(?: ([a-z]+)\b)?", re.MULTILINE)
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    """The anchors that a forge gives to a document's headings."""
    headings = re.findall(r"^#{1,6} +(.+?)\s*$", _FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def direct_dependencies() -> set[str]:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    return {re.split(r"[\[<>=!~; ]", one, maxsplit=1)[0] for group in groups for one in group}


@pytest.mark.parametrize("document", documents(), ids=str)
def test_links_lead_somewhere(document: Path) -> None:
    text = read(document)
    for target in _LINK.findall(_FENCE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            assert target.startswith("https://"), target
            continue
        path, _, anchor = unquote(target).partition("#")
        linked = (ROOT / document).parent / path if path else ROOT / document
        assert linked.exists(), f"{document} links to {target}"
        if anchor:
            assert anchor in anchors(linked.read_text(encoding="utf-8")), f"{document} links to {target}"


def test_every_direct_dependency_has_its_line() -> None:
    explained = re.findall(r"^\| `([^`]+)` \|", read("docs/dependencies.md"), re.MULTILINE)
    assert len(explained) == len(set(explained))
    assert set(explained) == direct_dependencies()


@pytest.mark.parametrize("document", documents(), ids=str)
def test_make_targets_exist(document: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))
    assert set(re.findall(r"^make ([a-z]+)\b", code(read(document)), re.MULTILINE)) <= targets


@pytest.mark.parametrize("document", documents(), ids=str)
def test_hart_commands_exist(document: Path) -> None:
    root = typer.main.get_command(app)
    for name, rest in re.findall(r"(?<![/@])\bhart ([a-z]+)\b(?: ([a-z]+)\b)?", code(read(document))):
        command = getattr(root, "commands", {}).get(name)
        assert command is not None, f"{document}: hart {name}"
        subcommands = getattr(command, "commands", None)
        if subcommands is not None:
            assert not rest or rest in subcommands, f"{document}: hart {name} {rest}"


def test_the_chat_commands_are_all_described_and_no_others() -> None:
    described = re.findall(r"^\| `/([a-z]+)[^`]*` \|", read("docs/commands.md"), re.MULTILINE)
    assert described == [command.name for command in builtin_commands()]


@pytest.mark.parametrize("document", documents(), ids=str)
def test_paths_that_documents_name_exist(document: Path) -> None:
    for name in re.findall(
        r"`((?:bot|channels|agent_core|scheduler|tests|docs|\.ci)/[\w./-]*)`", read(document)
    ):
        assert (ROOT / name).exists(), f"{document} names {name}"
