"""``hart sandbox``."""

import json
from pathlib import Path

import pytest

from tests.cli.process import run_hart
from tests.hart import Site
from tests.sandbox.conftest import IMAGE, ProviderMaker, sh, thread_files


@pytest.fixture
def own_site(tmp_path: Path) -> Site:
    """A place without a sandbox."""
    return Site(tmp_path)


async def test_without_a_sandbox_it_says_what_to_do(own_site: Site) -> None:
    for command, said in (("ps", "is not docker"), ("reap", "is not docker"), ("test", "sets up no sandbox")):
        outcome = await run_hart(own_site, "sandbox", command)
        assert (outcome.code, outcome.out) == (2, "")
        assert said in outcome.err


async def test_commands_on_this_machine_are_tried_and_warned_of(own_site: Site) -> None:
    own_site.config["sandbox"] = {"allow_host_bash": True}
    outcome = await run_hart(own_site, "sandbox", "test")
    assert outcome.code == 0, outcome.err
    lines = outcome.out.splitlines()
    assert lines[0] == "ok: a command wrote a file that Hart sees"
    assert lines[1] == "warning: commands run on this machine, as the user that Hart runs as"
    assert list((own_site.home / "threads").iterdir()) == []


async def test_an_engine_that_is_down_is_one_line(own_site: Site) -> None:
    own_site.config["sandbox"] = {"provider": "docker", "engine": f"unix://{own_site.root}/none.sock"}
    for command in ("ps", "reap", "test"):
        outcome = await run_hart(own_site, "sandbox", command)
        assert outcome.code == 2
        assert outcome.err.splitlines()[-1] == (
            "hart: the container engine does not answer; the operator has to look after it."
        )
        assert "Traceback" not in outcome.err


@pytest.mark.docker
@pytest.mark.usefixtures("docker_engine")
async def test_containers_are_tried_listed_and_removed(
    own_site: Site, make_provider: ProviderMaker, tmp_path: Path
) -> None:
    own_site.config["sandbox"] = {"provider": "docker", "image": IMAGE, "memory_mb": 128}
    tried = await run_hart(own_site, "sandbox", "test")
    assert tried.code == 0, tried.out + tried.err
    assert [line.partition(":")[0] for line in tried.out.splitlines()] == ["ok"] * 5 + ["warning"]
    assert "there is no network" in tried.out
    assert (await run_hart(own_site, "sandbox", "ps")).out == "There are no containers.\n"

    box = await make_provider().acquire("one", thread_files(tmp_path, "one"))
    await sh(box, "true")
    assert (await run_hart(own_site, "sandbox", "reap")).out == "There was nothing to remove.\n"
    (listed,) = json.loads((await run_hart(own_site, "sandbox", "ps", "--json")).out)
    assert (listed["name"], listed["thread_id"], listed["running"]) == (box.id, "one", True)
    assert (await run_hart(own_site, "sandbox", "reap", "--all")).out == f"Removed {box.id}\n"
    assert (await run_hart(own_site, "sandbox", "ps", "--json")).out == "[]\n"
