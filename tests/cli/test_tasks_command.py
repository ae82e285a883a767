"""``hart tasks``."""

import json

import pytest

from tests.cli.process import run_hart, service
from tests.emulators.openai import Fault, OpenAIEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site


@pytest.fixture
def site(site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator) -> Site:
    telegram.private_chat(telegram.user(7, "Ada"))
    site.use_openai(openai)
    site.use_telegram(telegram)
    site.config["limits"] = {"model_retries": 0}
    site.config["tasks"] = [
        {
            "name": "report",
            "schedule": {"cron": "30 8 * * 1"},
            "zone": "Europe/Berlin",
            "prompt": "report",
            "targets": [{"channel": "telegram", "chat": "7"}, {"channel": "web", "chat": "main"}],
        },
        {
            "name": "off",
            "enabled": False,
            "schedule": {"every": "2h"},
            "prompt": "x",
            "targets": [{"channel": "telegram", "chat": "404"}],
        },
    ]
    return site


async def test_list_shows_when_and_where(site: Site) -> None:
    listed = await run_hart(site, "tasks", "list")
    as_json = json.loads((await run_hart(site, "tasks", "list", "--json")).out)
    lines = listed.out.splitlines()
    assert listed.code == 0
    assert lines[0].startswith("report: ")
    assert lines[1] == "  posts to telegram 7, web main; has fired 0 times"
    assert [line.split()[1] for line in lines[2:5]] == ["Mon"] * 3
    assert all(" 08:30 " in line for line in lines[2:5])
    assert lines[5].startswith("off: ")
    assert lines[5].endswith(" (off)")
    assert [task["name"] for task in as_json] == ["report", "off"]


async def test_run_waits_and_shows_what_was_posted_where(site: Site, telegram: TelegramEmulator) -> None:
    outcome = await run_hart(site, "tasks", "run", "report")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines() == [
        "answer to: report",
        "-> telegram 7: text sent",
        "-> web main: text sent",
    ]
    assert [sent.text for sent in telegram.sent] == ["answer to: report"]


async def test_run_joins_the_hart_that_runs(site: Site, telegram: TelegramEmulator) -> None:
    async with service(site):
        outcome = await run_hart(site, "tasks", "run", "report")
        listed = json.loads((await run_hart(site, "tasks", "list", "--json")).out)
    assert outcome.code == 0
    assert listed[0]["fired"] == 1
    assert [sent.text for sent in telegram.sent] == ["answer to: report"]


async def test_a_delivery_that_fails_is_exit_code_1(site: Site) -> None:
    outcome = await run_hart(site, "tasks", "run", "off")
    assert outcome.code == 1
    assert outcome.out.splitlines() == ["answer to: x", "-> telegram 404: text failed"]


async def test_a_run_that_fails_is_exit_code_1(site: Site, openai: OpenAIEmulator) -> None:
    openai.fail(Fault.of_status(401))
    outcome = await run_hart(site, "tasks", "run", "report")
    assert outcome.code == 1
    assert "refused our API key" in outcome.out


async def test_an_unknown_task_is_one_line_and_exit_code_2(site: Site) -> None:
    outcome = await run_hart(site, "tasks", "run", "nothing")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "hart: There is no task 'nothing'; `hart tasks list` shows the tasks.\n"


async def test_a_task_is_paused_resumed_and_its_runs_are_shown(site: Site) -> None:
    async with service(site):
        for step, enabled in (("pause", False), ("resume", True)):
            assert (await run_hart(site, "tasks", step, "report")).code == 0
            listed = json.loads((await run_hart(site, "tasks", "list", "--json")).out)
            assert {task["name"]: task["enabled"] for task in listed}["report"] is enabled
        await run_hart(site, "tasks", "run", "report")
        shown = await run_hart(site, "tasks", "show", "report")
        unknown = await run_hart(site, "tasks", "pause", "nothing")
    assert shown.out.endswith(": done, delivery: delivered\n")
    assert unknown.code == 2
