"""A command ends with the run it belongs to, through the whole of Hart."""

from pathlib import Path

import pytest

from tests.emulators.openai import Call, ChatRequest, OpenAIEmulator, Reply
from tests.emulators.telegram import TelegramEmulator
from tests.engine.people import Person
from tests.hart import Site, hart_on
from tests.sandbox.beacon import Beacon
from tests.sandbox.conftest import IMAGE


@pytest.fixture
def ada(telegram: TelegramEmulator) -> Person:
    """Somebody with a private chat."""
    return Person.new(telegram, 7, "Ada")


@pytest.fixture
def own_site(tmp_path: Path, openai: OpenAIEmulator, telegram: TelegramEmulator) -> Site:
    """A place where Hart answers Ada."""
    site = Site(tmp_path)
    site.use_openai(openai)
    site.use_telegram(telegram)
    return site


async def test_stop_kills_the_command(
    own_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
) -> None:
    beacon = Beacon(own_site.root / "beacon")
    command = f"exec 3>{own_site.root}/beacon; echo on >&3; trap '' TERM; sleep 1000"
    openai.responder = lambda _: Reply(calls=(Call("bash", {"command": command}),))
    own_site.config["sandbox"] = {"allow_host_bash": True}
    async with hart_on(own_site):
        ada.says("work")
        await beacon.lit()
        ada.says("/stop")
        await beacon.dark()


async def test_a_shutdown_kills_the_command(
    own_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
) -> None:
    beacon = Beacon(own_site.root / "beacon")
    command = f"exec 3>{own_site.root}/beacon; echo on >&3; trap '' TERM; sleep 1000"
    openai.responder = lambda _: Reply(calls=(Call("bash", {"command": command}),))
    own_site.config["sandbox"] = {"allow_host_bash": True}
    own_site.config["limits"] = {"drain_seconds": 0}
    async with hart_on(own_site):
        ada.says("work")
        await beacon.lit()
    await beacon.dark()


@pytest.mark.docker
@pytest.mark.usefixtures("docker_engine")
async def test_what_a_command_made_reaches_the_chat(
    own_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
) -> None:
    path = "/mnt/user-data/outputs/table.csv"

    def work(request: ChatRequest) -> Reply:
        match request.tool_results():
            case []:
                return Reply(calls=(Call("bash", {"command": f"echo a,b > {path}; id -u"}),))
            case [_]:
                return Reply(calls=(Call("present_files", {"paths": [path]}),))
            case [user, _]:
                return Reply(f"made by {user}")
        raise AssertionError

    openai.responder = work
    own_site.config["sandbox"] = {"provider": "docker", "image": IMAGE, "memory_mb": 128}
    async with hart_on(own_site):
        ada.says("a table")
        heard = await ada.hears(2)
    assert heard[0].startswith("made by ")
    assert heard[0] != "made by 0"
    assert [(sent.file_name, sent.document) for sent in ada.got()[1:]] == [("table.csv", b"a,b\n")]
