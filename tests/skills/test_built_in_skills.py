"""The skills that come with Hart, and others, in a running Hart."""

import re
import shutil
from pathlib import Path

import pytest

from agent_core.skills.loader import load_skills
from bot.app import EMBEDDED
from tests.cli.process import run_hart, service
from tests.emulators.openai import Call, OpenAIEmulator, Reply
from tests.emulators.openai.wire import ChatRequest
from tests.hart import Site, hart_on, local_client
from tests.repo.tree import ROOT
from tests.skills.folders import write_skill, write_text
from tests.skills.talk import ask

FEEDS = ("file:examples/feeds/agents.xml", "file:examples/feeds/python.atom")
DIGEST = "/mnt/user-data/outputs/digest-2026-11-02.md"
PLACE = re.compile(r"<name>daily-digest</name>.*<location>(\S+)</location>")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A place with the skills and the feeds of this repository."""
    for folder in ("skills", "examples"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return Site(tmp_path)


def following(request: ChatRequest) -> Reply:
    """Do what the skill says: read it, read the feeds, write the digest, present it, answer."""
    prompt = str(request.messages[0]["content"])
    results = request.tool_results()
    match len(results):
        case 0:
            found = PLACE.search(prompt)
            assert found is not None
            return Reply(calls=(Call("read_file", {"path": found[1]}, "read"),))
        case 1:
            assert "## 3. Choose" in results[0]
            return Reply(calls=tuple(Call("read_feed", {"url": url, "limit": 30}, url) for url in FEEDS))
        case 3:
            links = re.findall(r"Link: (\S+)", "\n".join(results[1:]))
            content = "# Digest\n" + "".join(f"- item ({link})\n" for link in links)
            return Reply(calls=(Call("write_file", {"path": DIGEST, "content": content}, "write"),))
        case 4:
            return Reply(calls=(Call("present_files", {"paths": [DIGEST]}, "present"),))
        case _:
            return Reply("Three things matter.")


def test_all_of_them_load() -> None:
    found = load_skills(ROOT / "skills")
    assert found.problems == ()
    folders = {path.name for path in (ROOT / "skills/public").iterdir() if path.is_dir()}
    assert folders == set(found.names)


def test_all_of_them_are_documented() -> None:
    table = (ROOT / "docs/skills.md").read_text().partition("## Built-in skills")[2].partition("##")[0]
    assert re.findall(r"^\| `([\w-]+)`", table, re.MULTILINE) == list(load_skills(ROOT / "skills").names)


async def test_a_digest_is_made_as_its_skill_says(site: Site, tmp_path: Path) -> None:
    async with OpenAIEmulator(following) as openai:
        site.use_openai(openai)
        async with hart_on(site, parts=EMBEDDED) as hart, local_client(hart) as client:
            entries = await ask(client, "make a digest")
            (file,) = entries[-1].files
            digest = (await client.download("desk", file, tmp_path)).read_text()
    assert entries[0].text == "Three things matter."
    assert digest.count("(https://") == 11


async def test_the_operator_is_told_of_a_broken_skill_and_the_others_work(site: Site) -> None:
    write_text(site.root / "skills", "mine", "---\nname: mine\ndescription: a: b\n---\nx")
    write_skill(site.root / "skills", "good")
    outcome = await run_hart(site, "config", "check")
    assert outcome.code == 0, outcome
    lines = outcome.out.splitlines()
    assert "skill daily-digest: public" in lines
    assert "skill good: custom" in lines
    told = "skills/custom/mine/SKILL.md:3: the head is not YAML: put a text that holds a colon in quotes"
    assert f"A skill is left out. {told}" in lines
    async with service(site) as running:
        assert await running.line() == f"A skill is left out. {told}"
    async with hart_on(site, parts=EMBEDDED) as hart:
        assert hart.skills.names == ("daily-digest", "good")
