"""The ``sandbox:`` section."""

from collections.abc import Callable

import pytest

from bot.config import SandboxKind, Settings

Load = Callable[..., Settings]
Lines = Callable[..., list[str]]


def test_no_command_runs_unless_the_operator_says_where(settings: Load) -> None:
    sandbox = settings().config.sandbox
    assert sandbox.provider is SandboxKind.LOCAL
    assert not sandbox.runs_commands
    assert sandbox.network == "none"
    assert settings("sandbox: {allow_host_bash: true}").config.sandbox.runs_commands
    assert settings("sandbox: {provider: docker}").config.sandbox.runs_commands


def test_everything_can_be_set(settings: Load) -> None:
    sandbox = settings(
        """
        sandbox:
          provider: docker
          image: registry.example/box:2
          engine: tcp://127.0.0.1:2375
          network: tools
          cpus: 1.5
          environment: {REGION: eu, API_TOKEN: $TOKEN}
          home_on_host: /srv/hart
        """,
        TOKEN="s3cret",
    ).config.sandbox
    assert (sandbox.image, sandbox.network, sandbox.cpus) == ("registry.example/box:2", "tools", 1.5)
    assert sandbox.environment["API_TOKEN"].get_secret_value() == "s3cret"
    assert "s3cret" not in repr(sandbox)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{provider: podman}", 'sandbox.provider: found "podman", expected one of local, docker'),
        ("{network: host}", 'sandbox.network: found "host", expected "none", or the name of one of'),
        ("{network: 'container:x'}", 'sandbox.network: found "container:x", expected "none"'),
        ("{engine: /var/run/docker.sock}", "expected an address such as unix:///var/run/docker.sock"),
        ("{cpus: 0}", "expected a number of processor cores above 0"),
        ("{idle_minutes: 0}", "expected minutes, above 0"),
        ("{home_on_host: hart}", "expected an absolute path"),
        ("{environment: {1A: x}}", "expected the name of an environment variable"),
        ("{provider: docker, allow_host_bash: true}", "allow_host_bash is for the provider local alone"),
        ("{memory: 1}", "sandbox.memory"),
    ],
)
def test_what_is_wrong_is_said(lines: Lines, text: str, said: str) -> None:
    (line,) = lines(f"sandbox: {text}")
    assert said in line
