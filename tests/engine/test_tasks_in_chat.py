"""Tasks made and kept in chats: asked for in words, restated, confirmed by a button, and run."""

from datetime import timedelta

import pytest

from bot.store.tables import Task, TaskRun
from tests.clock import ManualClock
from tests.emulators.openai import Call, ChatRequest, OpenAIEmulator, Reply
from tests.emulators.telegram import TelegramEmulator
from tests.engine.ledger import rows
from tests.engine.people import Person
from tests.engine.test_scheduled_tasks import http_to
from tests.engine.test_task_runs import finished
from tests.hart import OPEN_TO_ALL, Site, hart_on

ASKED = "every weekday at 8:00 write a file note.txt with good morning"
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()  # a Monday, 08:00


@pytest.fixture
def offline_site(site: Site, telegram: TelegramEmulator) -> Site:
    """A place where the stand-in answers everybody on Telegram."""
    site.use_telegram(telegram)
    site.config["agent"] = {"zone": "Europe/Berlin"}
    return site


def _scheduling(**arguments: object) -> object:
    """A model that schedules once and then says what came of it."""

    def respond(request: ChatRequest) -> Reply:
        results = request.tool_results()
        if results:
            return Reply(f"result: {results[-1]}")
        return Reply(calls=(Call("schedule_task", {"title": "Report", "prompt": "report", **arguments}),))

    return respond


async def test_a_request_in_words_is_restated_confirmed_and_runs(
    offline_site: Site, telegram: TelegramEmulator, clock: ManualClock, ada: Person
) -> None:
    async with hart_on(offline_site, clock) as hart:
        ada.says(ASKED)
        question, _answer = await ada.hears(2)
        assert "Shall I put write a file note.txt with good morning on the schedule?" in question
        assert "At 08:00 on Monday through Friday (Europe/Berlin)" in question
        assert "Tue 2026-11-03 08:00 CET; Wed 2026-11-04 08:00 CET; Thu 2026-11-05 08:00 CET" in question
        clock.move(timedelta(hours=23, minutes=30))
        assert await hart.scheduler.tick() == 0, "nothing counts before it is confirmed"
        telegram.press(ada.got()[0], "Yes, schedule it", ada.user)
        (*_, confirmed) = await ada.hears(3)
        assert "is on the schedule" in confirmed
        clock.move(DAY)
        assert await hart.scheduler.tick() == 1
        await finished(hart, 1)
        await ada.hears(5)
        (task,) = await rows(hart, Task)
        assert task.state == "active"
    assert ada.got()[-2].text.startswith("I wrote note.txt; here it is.")
    assert ada.got()[-1].document is not None


async def test_a_question_is_for_who_was_asked_and_no_deletes_it(
    offline_site: Site, telegram: TelegramEmulator, clock: ManualClock, ada: Person, bo: Person
) -> None:
    async with hart_on(offline_site, clock) as hart:
        ada.says(ASKED)
        await ada.hears(2)
        (task,) = await rows(hart, Task)
        bo.says(f"/tasks confirm {task.name}")
        assert "There is no task" in (await bo.hears(1))[0]
        bo.says("/tasks")
        assert "There are no tasks here" in (await bo.hears(2))[1]
        telegram.press(ada.got()[0], "No", ada.user)
        assert (await ada.hears(3))[-1].endswith("is deleted.")
        (task,) = await rows(hart, Task)
    assert task.state == "gone"


async def test_tasks_are_shown_paused_changed_run_and_deleted_by_commands(
    offline_site: Site, clock: ManualClock, ada: Person
) -> None:
    async with hart_on(offline_site, clock) as hart:
        ada.says(ASKED)
        await ada.hears(2)
        (task,) = await rows(hart, Task)
        for number, (command, said) in enumerate(
            [
                (f"/tasks confirm {task.name}", "is on the schedule"),
                ("/tasks", f"({task.name}) – At 08:00 on Monday through Friday"),
                (f"/tasks pause {task.name}", "is paused"),
                (f"/tasks show {task.name}", ": paused"),
                (f"/tasks edit {task.name} cron 30 9 * * *", "At 09:30 every day (Europe/Berlin)"),
                (f"/tasks edit {task.name} cron * * * * *", "which is too often"),
                (f"/tasks edit {task.name} colour blue", "Use /tasks edit NAME FIELD VALUE"),
                (f"/tasks resume {task.name}", "runs again"),
                (f"/tasks delete {task.name}", "is deleted"),
                (f"/tasks show {task.name}", "There is no task"),
                ("/tasks dance", "Use /tasks"),
            ],
            3,
        ):
            ada.says(command)
            assert said in (await ada.hears(number))[-1], command
        assert await rows(hart, TaskRun) == []


async def test_a_run_by_hand_from_the_chat_posts_and_is_logged(
    offline_site: Site, clock: ManualClock, ada: Person
) -> None:
    async with hart_on(offline_site, clock) as hart:
        ada.says("every day at 9 tell me the time")
        await ada.hears(2)
        (task,) = await rows(hart, Task)
        ada.says(f"/tasks confirm {task.name}")
        await ada.hears(3)
        ada.says(f"/tasks run {task.name}")
        heard = await ada.hears(5)
        await finished(hart, 1)
        ada.says(f"/tasks show {task.name}")
        log = (await ada.hears(6))[-1]
    assert any("tell me the time" in text and text.startswith("I read") for text in heard[3:])
    assert "Mon 2026-11-02 09:00 CET, done" in log


async def test_a_reminder_is_posted_at_its_time_without_asking_the_model(
    open_site: Site, openai: OpenAIEmulator, clock: ManualClock, ada: Person
) -> None:
    async with hart_on(open_site, clock) as hart:
        ada.says("/remind 20m stand up and stretch")
        assert (await ada.hears(1))[0].startswith("I shall remind you at Mon 2026-11-02 08:20 UTC.")
        clock.move(timedelta(minutes=19))
        assert await hart.scheduler.tick() == 0
        clock.move(timedelta(minutes=1))
        assert await hart.scheduler.tick() == 1
        assert (await ada.hears(2))[-1] == "stand up and stretch"
        (task,) = await rows(hart, Task)
        async with http_to(hart) as http:
            fired = (await http.post(f"/api/tasks/{task.name}/run")).json()
            outcome = (await http.get(f"/api/tasks/fires/{fired['key']}", params={"wait": 30})).json()
        assert (outcome["state"], outcome["settled"]) == ("done", True)
        assert [one["text"] for one in outcome["deliveries"]] == ["stand up and stretch"]
        ada.says("/remind yesterday")
        assert "Cannot read the time" in (await ada.hears(4))[-1]
    assert task.state == "done"
    assert openai.requests == []


async def test_the_time_zone_of_a_person_is_meant_by_their_times(
    offline_site: Site, clock: ManualClock, ada: Person
) -> None:
    async with hart_on(offline_site, clock):
        ada.says("/timezone Mars/Base")
        assert "Unknown time zone" in (await ada.hears(1))[-1]
        ada.says("/timezone America/New_York")
        assert "now meant in America/New_York" in (await ada.hears(2))[-1]
        ada.says(ASKED)
        assert "(America/New_York)" in (await ada.hears(4))[2]


async def test_the_tasks_of_somebody_who_is_shut_out_are_paused(
    offline_site: Site, telegram: TelegramEmulator, clock: ManualClock, ada: Person
) -> None:
    async with hart_on(offline_site, clock) as hart:
        ada.says("/remind 1h still here")
        await ada.hears(1)
    offline_site.use_telegram(telegram, access={"dm": "allowlist", "users": ["8"]})
    clock.move(timedelta(hours=1))
    async with hart_on(offline_site, clock) as hart:
        assert await hart.scheduler.tick() == 0
        (task,) = await rows(hart, Task)
    assert (task.state, task.note) == ("paused", "its owner is no longer let in")
    assert len(ada.got()) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"every": "1m"}, "too often"),
        ({"cron": "0 0 31 2 *"}, "bad day of month"),
        ({}, "exactly one of cron, every and at"),
        ({"every": "1d", "cron": "@daily"}, "exactly one of cron, every and at"),
        ({"at": "2020-01-01 08:00"}, "in the past"),
        ({"every": "1d", "zone": "../etc"}, "Unknown time zone"),
    ],
)
async def test_what_cannot_be_a_task_is_told_to_the_model(
    sqlite_site: Site, openai: OpenAIEmulator, ada: Person, arguments: dict[str, object], said: str
) -> None:
    openai.responder = _scheduling(**arguments)
    async with hart_on(sqlite_site) as hart:
        ada.says("schedule it")
        (answer,) = await ada.hears(1)
        assert await rows(hart, Task) == []
    assert said in answer


async def test_somebody_may_have_so_many_tasks_and_no_more(
    sqlite_site: Site, openai: OpenAIEmulator, ada: Person
) -> None:
    sqlite_site.config["scheduling"] = {"tasks_per_person": 1}
    openai.responder = _scheduling(every="1d")
    async with hart_on(sqlite_site) as hart:
        ada.says("schedule it")
        await ada.hears(2)
        ada.says("/new schedule it")
        assert "as many tasks as somebody may have" in (await ada.hears(4))[-1]
        assert len(await rows(hart, Task)) == 1


async def test_who_may_not_use_the_command_may_not_use_the_tools(
    sqlite_site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator, ada: Person
) -> None:
    sqlite_site.use_telegram(telegram, access={**OPEN_TO_ALL, "commands": {"tasks": "admin"}})
    openai.responder = _scheduling(every="1d")
    async with hart_on(sqlite_site) as hart:
        ada.says("schedule it")
        (answer,) = await ada.hears(1)
        assert await rows(hart, Task) == []
    assert "/tasks is for admins" in answer


async def test_a_task_cannot_make_tasks(
    sqlite_site: Site, openai: OpenAIEmulator, clock: ManualClock, ada: Person
) -> None:
    sqlite_site.config["tasks"] = [
        {
            "name": "maker",
            "schedule": {"cron": "0 * * * *"},
            "prompt": "make another",
            "targets": [{"channel": "telegram", "chat": "7"}],
        }
    ]
    openai.responder = _scheduling(every="1d")
    async with hart_on(sqlite_site, clock) as hart:
        clock.move(timedelta(hours=1))
        await hart.scheduler.tick()
        (answer,) = await ada.hears(1)
        assert len(await rows(hart, Task)) == 1
    assert "A scheduled run or a subagent cannot make or change tasks." in answer
