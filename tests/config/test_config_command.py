"""``hart config check`` and ``hart config show``."""

from collections.abc import Callable

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner, Result

from bot.cli.config import app, make_app
from bot.config import Settings
from bot.errors import OperatorError
from tests.config.conftest import Write

CLEAN = dict.fromkeys(
    ("OPENAI_API_KEY", "OPENAI_MODEL", "OPENAI_BASE_URL", "DATABASE_URL", "TELEGRAM_BOT_TOKEN", "HART_CONFIG")
)


def run(*arguments: str, **environ: str) -> Result:
    return CliRunner().invoke(app, arguments, env={**CLEAN, **environ})


def test_check_says_what_is_on_and_off(write: Write) -> None:
    directory = write(
        """\
        server: {host: 0.0.0.0, token: t, port: 0}
        tasks:
          - {name: a, schedule: {every: 2h}, prompt: x, targets: [{channel: web, chat: c}]}
          - name: b
            schedule: {cron: "@daily"}
            zone: Asia/Tokyo
            prompt: x
            targets: [{channel: web, chat: c}]
          - {name: c, schedule: {every: 2h}, prompt: x, targets: [{channel: web, chat: c}], enabled: false}
        """
    )
    result = run("check", "--config", str(directory), DATABASE_URL="postgres://u:hunter2@h/d")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "config.yaml: OK",
        "channels.yaml: OK (not there, so the defaults hold)",
        "model offline: agent_core.models.offline:OfflineChatModel, the default",
        "storage: Postgres",
        "server: 0.0.0.0 port any, with a token",
        "web: on",
        "console: on",
        "telegram: off, TELEGRAM_BOT_TOKEN is not set",
        "slack: off, SLACK_BOT_TOKEN is not set",
        "feishu: off, FEISHU_APP_ID is not set",
        "task a: on, every 2h",
        "task b: on, 0 0 * * * Asia/Tokyo",
        "task c: off, enabled is false",
    ]


@pytest.mark.parametrize("command", ["check", "show"])
def test_problems_go_to_stderr_with_exit_code_2(write: Write, command: str) -> None:
    result = run(command, "--config", str(write("agnt: {}\nlimts: {}")))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines() == [
        'config.yaml:2: agnt: unknown key; did you mean "agent"?',
        'config.yaml:3: limts: unknown key; did you mean "limits"?',
    ]


def test_the_directory_may_come_from_the_environment(write: Write) -> None:
    result = run("check", HART_CONFIG=str(write("nonsense: 1")))
    assert (result.exit_code, result.stderr[:14]) == (2, "config.yaml:2:")


def test_what_show_prints_is_yaml_that_loads_to_the_same(
    write: Write, settings: Callable[..., Settings]
) -> None:
    config = "agent: {instructions: \"Two\\nlines\"}\nmodels: [{name: a, use: 'm:C', temperature: 0.5}]"
    before = settings(config)
    result = run("show", "--config", str(write(config)))
    assert result.exit_code == 0
    first, second = YAML(typ="safe", pure=True).load_all(result.stdout)
    assert type(before.config).model_validate(first).model_dump() == before.config.model_dump()
    assert type(before.channels).model_validate(second).model_dump() == before.channels.model_dump()
    assert result.stdout.startswith("# config.yaml\nversion: 1\n")
    assert "---\n# channels.yaml\nversion: 1\n" in result.stdout


def test_check_asks_the_further_check_and_shows_its_refusal(write: Write) -> None:
    def refuse(settings: Settings) -> None:
        raise OperatorError(f"model {settings.config.default_model}: cannot be built")

    arguments = ["check", "--config", str(write(""))]
    result = CliRunner().invoke(make_app(refuse), arguments, env=CLEAN)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "model offline: cannot be built\n"
