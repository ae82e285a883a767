"""Tasks: when they run, and where their results go."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.config import Schedule, Settings, TaskConfig
from channels.messages import Address

Load = Callable[..., Settings]
Lines = Callable[..., list[str]]


def task(**changes: object) -> TaskConfig:
    whole = {
        "name": "t",
        "schedule": {"every": "1h"},
        "prompt": "x",
        "targets": [{"channel": "web", "chat": "a"}],
    }
    return TaskConfig.model_validate(whole | changes)


def test_a_task_needs_a_name_a_schedule_a_prompt_and_a_target() -> None:
    small = task()
    assert (small.zone, small.model, small.enabled) == ("UTC", None, True)
    for key in ("name", "schedule", "prompt", "targets"):
        with pytest.raises(ValidationError):
            task(**{key: None})
    for key, empty in (("name", ""), ("schedule", {}), ("prompt", " \n"), ("targets", [])):
        with pytest.raises(ValidationError):
            task(**{key: empty})


@pytest.mark.parametrize(
    ("given_cron", "fields"),
    [
        ("0 8 * * 1-5", "0 8 * * 1-5"),
        (" 0  8 * * mon-fri ", "0 8 * * mon-fri"),
        ("*/5 0 1 1 7", "*/5 0 1 1 7"),
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@Weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
    ],
)
def test_cron_takes_five_fields_or_a_macro(given_cron: str, fields: str) -> None:
    schedule = Schedule(cron=given_cron)
    assert (schedule.cron, schedule.interval) == (fields, None)


@pytest.mark.parametrize(
    "cron",
    [
        "",
        "* * * *",
        "0 * * * * *",
        "60 * * * *",
        "* * 31 2 *",
        "* * * * 8",
        "@often",
        "9" * 5000 + " * * * *",
        "x",
    ],
)
def test_cron_that_cannot_come_due_is_refused(cron: str) -> None:
    with pytest.raises(ValidationError):
        Schedule(cron=cron)


@given(st.text(st.sampled_from("0123456789*/,-#L W@"), max_size=40))
def test_any_text_is_a_schedule_or_a_validation_error(text: str) -> None:
    try:
        schedule = Schedule(cron=text)
    except ValidationError:
        return
    assert schedule.cron is not None
    assert len(schedule.cron.split()) == 5


@pytest.mark.parametrize(
    ("every", "interval"),
    [
        ("90s", timedelta(seconds=90)),
        ("30m", timedelta(minutes=30)),
        ("2h", timedelta(hours=2)),
        ("366d", timedelta(days=366)),
    ],
)
def test_every_takes_a_number_with_a_unit(every: str, interval: timedelta) -> None:
    assert Schedule(every=every).interval == interval


@pytest.mark.parametrize(
    "every", ["", "30", "0m", "-5m", "1.5h", "1w", "367d", "5 m", "5m\n", "٣m", "9" * 30 + "s"]
)
def test_other_intervals_are_refused(every: str) -> None:
    with pytest.raises(ValidationError):
        Schedule(every=every)


def test_faulty_tasks_are_named(lines: Lines) -> None:
    assert lines(
        """\
        tasks:
          - name: Big Digest
            schedule: {cron: "61 * * * *", every: 5}
            zone: Europe/Berln
            prompt: "  "
            targets: []
          - name: both
            schedule: {cron: "@daily", every: 5m}
            prompt: ${GONE} x
            targets: [{channel: telgram, chat: 12}, {channel: web, chat: ""}]
            shedule: {}
          - name: never
            schedule: {cron: "0 0 29 2 1#5"}
            zone: "../../etc/passwd"
            prompt: x
            targets: [{channel: web, chat: true}]
        """
    ) == [
        'config.yaml:3: tasks[0].name: found "Big Digest", expected up to 64 small letters and digits, '
        "with single "
        "dashes between them",
        'config.yaml:4: tasks[0].schedule.cron: found "61 * * * *", expected five fields (minute hour '
        "day month "
        'weekday), such as "0 8 * * 1-5", or @hourly, @daily, @weekly, @monthly; Bad minute',
        "config.yaml:4: tasks[0].schedule.every: found 5, expected a whole number with s, m, h or d, "
        "such as 30m, "
        "at most 366d",
        'config.yaml:5: tasks[0].zone: found "Europe/Berln", expected an IANA time zone such as '
        "Europe/Berlin; did "
        'you mean "Europe/Berlin"?',
        'config.yaml:6: tasks[0].prompt: found "  ", expected text',
        "config.yaml:7: tasks[0].targets: found an empty list, expected a list of one or more targets",
        "config.yaml:9: tasks[1].schedule: expected exactly one of cron, every and at",
        "config.yaml:10: tasks[1].prompt: the environment variable GONE is not set; set it, or write "
        "${GONE:-} to do "
        "without",
        'config.yaml:11: tasks[1].targets[0].channel: found "telgram", expected one of web, console, '
        "telegram, slack, feishu; did "
        'you mean "telegram"?',
        'config.yaml:11: tasks[1].targets[1].chat: found "", expected an id',
        'config.yaml:12: tasks[1].shedule: unknown key; did you mean "schedule"?',
        'config.yaml:15: tasks[2].zone: found "../../etc/passwd", expected an IANA time zone such as '
        "Europe/Berlin",
        "config.yaml:17: tasks[2].targets[0].chat: found true, expected an id",
    ]


@pytest.mark.parametrize("zone", ["Europe", "", "Nowhere/Town", "/etc/localtime", "x" * 5000, "a\0b"])
def test_what_is_no_time_zone_is_refused(zone: str) -> None:
    with pytest.raises(ValidationError):
        task(zone=zone)


def test_names_and_targets_are_unique_and_accounts_must_exist(lines: Lines) -> None:
    assert lines(
        """\
        tasks:
          - name: t
            schedule: {every: 1h}
            prompt: x
            targets:
              - {channel: web, chat: a}
              - {channel: web, chat: a, account: main}
              - {channel: web, chat: a, thread: b}
              - {channel: telegram, account: team, chat: -100}
          - name: t
            schedule: {every: 1h}
            prompt: x
            targets: [{channel: console, account: other, chat: a}]
        """
    ) == [
        'config.yaml:11: tasks[1].name: found "t" a second time, expected another name',
        "config.yaml:8: tasks[0].targets[1]: found a mapping a second time, expected another target",
        'config.yaml:10: tasks[0].targets[3].account: found "team", which is no account of telegram; '
        "accepted: main",
        'config.yaml:14: tasks[1].targets[0].account: found "other", which is no account of console; '
        "accepted: main",
    ]


def test_a_target_gives_the_address_for_the_channels(settings: Load) -> None:
    config = settings(
        """\
        tasks:
          - name: t
            schedule: {every: 1h}
            prompt: x
            targets: [{channel: telegram, account: team, chat: -100123, thread: 7}]
        """,
        "channels: {telegram: {accounts: {team: {}}}}",
    ).config
    assert config.tasks[0].targets[0].address() == Address("telegram", "team", "-100123", "7")
