"""The files that come with Hart, files that are not there, and what the whole amounts to."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.config import ConfigError, ServerConfig, Settings, load
from channels.messages import Address

Load = Callable[..., Settings]
Lines = Callable[..., list[str]]

ROOT = Path(__file__).parents[2]


def test_the_checked_in_files_run_as_they_are_with_an_empty_environment() -> None:
    settings = load(ROOT, {})
    assert settings.directory == ROOT
    assert settings.config.default_model == "offline"
    assert [state.channel for state in settings.channels.enabled()] == ["web", "console"]


def test_the_checked_in_files_hold_the_defaults(tmp_path: Path) -> None:
    shipped, built_in = load(ROOT, {}), load(tmp_path, {})
    assert shipped.config.model_copy(update={"tasks": ()}).model_dump() == built_in.config.model_dump()
    assert shipped.channels.model_dump() == built_in.channels.model_dump()


def test_the_checked_in_digest_is_off_and_names_files_that_can_be_read() -> None:
    settings = load(ROOT, {})
    (digest,) = settings.config.tasks
    assert (digest.name, digest.enabled, digest.zone) == ("digest", False, "Europe/Berlin")
    assert (digest.schedule.cron, digest.schedule.interval) == ("0 8 * * 1-5", None)
    assert [target.address() for target in digest.targets] == [
        Address("web", "main", "main"),
        Address("console", "main", "main"),
    ]
    assert "digest.md" in digest.prompt
    feeds = [word.removeprefix("file:") for word in digest.prompt.split() if word.startswith("file:")]
    assert feeds == ["examples/feeds/agents.xml", "examples/feeds/python.atom"]
    for feed in feeds:
        assert (ROOT / feed).parent in settings.feed_directories()


def test_without_any_file_the_defaults_hold(tmp_path: Path) -> None:
    config = load(tmp_path, {}).config
    assert (config.server.host, config.server.port, config.server.token) == ("127.0.0.1", 8765, None)
    assert (config.limits.concurrent_runs, config.limits.attempts, config.limits.model_retries) == (16, 5, 3)
    assert (config.storage.url, config.tasks, config.agent.max_model_calls) == (None, (), 100)


def test_keys_without_a_value_count_as_not_set(settings: Load) -> None:
    found = settings("agent:\nlimits:\n  attempts:\nserver: {host: '${HOST:-}', port: }\ntasks:\nstorage:\n")
    assert found.config.limits.attempts == 5
    assert (found.config.server.host, found.config.server.port) == ("127.0.0.1", 8765)


def test_settings_cannot_be_changed(settings: Load) -> None:
    found = settings()
    with pytest.raises(ValidationError):
        found.config.limits.attempts = 3


def test_feed_directories_lie_below_the_configurations_directory(settings: Load, tmp_path: Path) -> None:
    found = settings("tools: {feeds: {allow_files: [news, /srv/feeds]}}")
    assert found.feed_directories() == (tmp_path.resolve() / "news", Path("/srv/feeds"))


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_both_names_of_postgres_are_taken(settings: Load, scheme: str) -> None:
    url = settings(f"storage: {{url: '{scheme}://u@h/d'}}").config.storage.url
    assert url is not None
    assert url.get_secret_value() == "postgresql://u@h/d"


def test_the_file_wins_over_database_url(settings: Load) -> None:
    found = settings("storage: {url: 'postgresql://file/d'}", DATABASE_URL="postgres://environment/d").config
    assert found.storage.url is not None
    assert found.storage.url.get_secret_value() == "postgresql://file/d"
    found = settings("", DATABASE_URL="postgres://environment/d").config
    assert found.storage.url is not None
    assert found.storage.url.get_secret_value() == "postgresql://environment/d"
    assert settings("", DATABASE_URL="").config.storage.url is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "hart.example.org"])
def test_listening_for_others_needs_a_token(lines: Lines, settings: Load, host: str) -> None:
    (line,) = lines(f"server:\n  host: '{host}'")
    assert line.startswith(
        "config.yaml:2: server: the host can be reached from other machines, so a token is needed"
    )
    (line,) = lines(f"server: {{host: '{host}', token: '${{HART_TOKEN:-}}'}}")
    assert "a token is needed" in line
    assert settings(f"server: {{host: '{host}', token: $T}}", T="t").config.server.host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_alone_needs_no_token(host: str) -> None:
    assert ServerConfig(host=host).token is None


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    # A link to itself: a refusal that root gets, too.
    (tmp_path / "config.yaml").symlink_to("config.yaml")
    with pytest.raises(
        ConfigError, match=r"^config\.yaml: cannot be read: Too many levels of symbolic links$"
    ):
        load(tmp_path, {})
