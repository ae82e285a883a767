"""Commands over the wire, whatever the agent is doing."""

import re

import pytest

from bot.store.tables import Inbound
from tests.emulators.openai import Fault, OpenAIEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.engine.ledger import rows
from tests.engine.people import Person
from tests.hart import Site, hart_on

WHILE_BUSY = {
    "/help": r"Write to me [\s\S]*/new [\s\S]*/status [\s\S]*/stop [\s\S]*/models [\s\S]*",
    "/whoami": (
        r"• You are 7 \(Ada\)\n• Role: member\n"
        r"• Channel: telegram, account main\n• Chat: 7 \(direct\)"
    ),
    "/models": r"• test-model \(in use here\)\n• other-model\n\nSwitch with /models name\.",
    "/status": r"[\s\S]*• Working: yes, for \d+ s\n• Waiting messages: 0\n[\s\S]*",
    "/models other-model": r"This conversation now uses other-model\. A run that has begun[\s\S]*",
    "/mode pro": r"This conversation is now in the mode pro: it thinks, and plans [\s\S]*",
    "/mode": r"• flash – [\s\S]*• pro \(in use here\) – [\s\S]*Switch with /mode name\.",
    "/new": r"Started a new conversation\. [\s\S]*Model: other-model\.",
}
"""Each command in turn, and its answer as Telegram shows it."""


async def test_every_command_is_answered_at_once_while_a_run_is_busy(
    open_site: Site, openai: OpenAIEmulator, ada: Person
) -> None:
    openai.fail(Fault.hang())
    async with hart_on(open_site):
        ada.says("something long")
        await openai.wait_for(lambda: len(openai.requests) == 1, timeout=30)
        for number, (command, answer) in enumerate(WHILE_BUSY.items(), 1):
            ada.says(command)
            heard = (await ada.hears(number))[-1]
            assert re.fullmatch(answer, heard), (command, heard)
        assert len(openai.requests) == 1
        assert openai.disconnects == 0
        ada.says("/stop")  # reaches back to what began before /new
        assert set((await ada.hears(len(WHILE_BUSY) + 2))[-2:]) == {"Stopping.", "Stopped."}


async def test_status_counts_what_waits_and_what_was_used(
    open_site: Site, openai: OpenAIEmulator, ada: Person
) -> None:
    models = open_site.config["models"]
    assert isinstance(models, list)
    models[0]["context_window"] = 1000
    async with hart_on(open_site):
        ada.says("/status")
        (fresh,) = await ada.hears(1)
        ada.says("hello")
        await ada.hears(2)
        openai.fail(Fault.hang())
        ada.says("something long")
        await openai.wait_for(lambda: len(openai.requests) == 2, timeout=30)
        ada.says("and this")
        ada.says("and that")
        ada.says("/status")
        busy = (await ada.hears(3))[-1]
    assert re.fullmatch(
        r"• Thread: [0-9a-f]{8} \(conversation 1\)\n• Model: test-model\n• Mode: ultra\n• Working: no\n"
        r"• Waiting messages: 0\n• Tokens used: 0 \(0 in, 0 out, 0 runs\)\n"
        r"• Context: 0 tokens of 1,000 \(0%\)",
        fresh,
    )
    assert re.search(r"^• Working: yes, for \d+ s$", busy, re.MULTILINE)
    assert "• Waiting messages: 2" in busy
    used = re.search(r"Tokens used: ([\d,]+) \(([\d,]+) in, ([\d,]+) out, 2 runs\)", busy)
    assert used is not None
    total, into, out = (int(number.replace(",", "")) for number in used.groups())
    assert total == into + out > 0
    assert f"• Context: {total:,} tokens of 1,000 ({total / 1000:.0%})" in busy


async def test_status_tells_the_cost_where_prices_are_known(
    open_site: Site, openai: OpenAIEmulator, ada: Person
) -> None:
    models = open_site.config["models"]
    assert isinstance(models, list)
    models[0]["prices"] = {"input": 1000, "output": 1000, "cached_input": 1000}
    async with hart_on(open_site):
        ada.says("hello")
        await ada.hears(1)
        ada.says("/status")
        status = (await ada.hears(2))[-1]
    used = re.search(r"Tokens used: ([\d,]+) ", status)
    assert used is not None
    assert f"• Cost: ${int(used[1].replace(',', '')) / 1000:,.4f}" in status


class TestModels:
    async def test_switches_from_the_next_run_on(
        self, open_site: Site, openai: OpenAIEmulator, ada: Person, bo: Person
    ) -> None:
        async with hart_on(open_site):
            ada.says("one")
            await ada.hears(1)
            ada.says("/models OTHER-model")
            await ada.hears(2)
            ada.says("two")
            await ada.hears(3)
            bo.says("three")
            await bo.hears(1)
        models = [request.json["model"] for request in openai.accepted]
        assert models == ["test-model", "other-model", "test-model"]

    async def test_a_model_that_is_not_there_is_refused_with_a_suggestion(
        self, sqlite_site: Site, openai: OpenAIEmulator, ada: Person
    ) -> None:
        async with hart_on(sqlite_site):
            ada.says("/models other")
            ada.says("/models zzz")
            near, far = await ada.hears(2)
            ada.says("go on")
            await ada.hears(3)
        assert near == "There is no model other. Did you mean other-model?"
        assert far == "There is no model zzz. Did you mean test-model or other-model?"
        assert openai.accepted[0].json["model"] == "test-model"


class TestMode:
    async def test_holds_from_the_next_run_on_also_after_new(
        self, open_site: Site, openai: OpenAIEmulator, ada: Person, bo: Person
    ) -> None:
        async with hart_on(open_site):
            ada.says("/mode FLASH")
            await ada.hears(1)
            ada.says("one")
            await ada.hears(2)
            ada.says("/new two")
            await ada.hears(4)
            bo.says("three")
            await bo.hears(1)
        told = ["Mode: flash." in str(request.messages[-1]) for request in openai.accepted]
        assert told == [True, True, False]

    async def test_the_configured_one_holds_where_none_was_chosen(
        self, sqlite_site: Site, openai: OpenAIEmulator, ada: Person
    ) -> None:
        sqlite_site.config["agent"] = {"mode": "pro"}
        async with hart_on(sqlite_site):
            ada.says("one")
            await ada.hears(1)
        assert "Mode: pro." in str(openai.accepted[0].messages[-1])

    async def test_one_that_is_not_there_is_refused_with_a_suggestion(
        self, sqlite_site: Site, ada: Person
    ) -> None:
        async with hart_on(sqlite_site):
            ada.says("/mode flsh")
            ada.says("/mode zzz")
            near, far = await ada.hears(2)
        assert near == "There is no mode flsh. Did you mean flash?"
        assert far == "There is no mode zzz. Did you mean flash or standard or pro or ultra?"


class TestUnknownCommands:
    @pytest.mark.parametrize(
        ("typed", "answer"),
        [
            ("/hlep", "I do not know /hlep. Did you mean /help?"),
            ("/statsu now", "I do not know /statsu. Did you mean /status?"),
            ("/frobnicate", "I do not know /frobnicate. /help shows the commands."),
        ],
    )
    async def test_get_a_suggestion_and_never_reach_the_model(
        self, sqlite_site: Site, openai: OpenAIEmulator, ada: Person, typed: str, answer: str
    ) -> None:
        async with hart_on(sqlite_site):
            ada.says(typed)
            assert await ada.hears(1) == [answer]
        assert openai.requests == []

    async def test_a_path_is_no_command(self, sqlite_site: Site, ada: Person) -> None:
        async with hart_on(sqlite_site):
            ada.says("/etc/hosts looks odd")
            assert await ada.hears(1) == ["answer to: /etc/hosts looks odd"]


async def test_in_a_group_a_command_needs_the_bot_and_answers_into_the_topic(
    sqlite_site: Site, telegram: TelegramEmulator, ada: Person
) -> None:
    forum = telegram.group("Team", forum=True)
    topic = telegram.topic(forum, "Plans")
    async with hart_on(sqlite_site) as hart:
        telegram.say(forum, ada.user, "/whoami", thread=topic)
        telegram.say(forum, ada.user, "/whoami@hart_team_bot", thread=topic)
        (sent,) = await telegram.wait_for_sent(1, timeout=30)
        inbound = await rows(hart, Inbound)
    assert sent.thread == topic
    assert f"• Thread or topic: {topic}" in sent.text
    assert [row.text for row in inbound][-1] == "/whoami"
